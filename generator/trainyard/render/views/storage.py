"""View of a Secret that External Secrets makes."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model.storage import StoredSecret

PROPERTIES = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    "pull": ("dockerconfigjson",),
}
"""Properties of a store's entry that a kind of secret needs."""

_KEYS = (
    "aws_access_key_id = {{ .AWS_ACCESS_KEY_ID }}\n"
    "aws_secret_access_key = {{ .AWS_SECRET_ACCESS_KEY }}\n"
)


@dataclass(frozen=True, slots=True, order=True)
class StoreEntry:
    """An entry of a secret store, which its owner writes."""

    store: str
    key: str
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredSecretView:
    """A Secret that External Secrets makes, as templates read it."""

    secret: StoredSecret

    @property
    def connection_labels(self) -> dict[str, str]:
        """Label that shows an S3 secret as a connection in the OpenShift AI dashboard."""
        return {"opendatahub.io/dashboard": "true"}

    @property
    def connection_annotations(self) -> dict[str, str]:
        """Annotations from which the dashboard reads the kind of connection."""
        return {
            "opendatahub.io/connection-type-protocol": "s3",
            "openshift.io/display-name": self.secret.name,
        }

    @property
    def template_data(self) -> dict[str, str]:
        """Data beside the two keys from the store: the connection, and the AWS SDKs' two files."""
        endpoint = self.secret.endpoint
        return {
            "AWS_S3_BUCKET": self.secret.bucket,
            "AWS_S3_ENDPOINT": endpoint,
            "config": f"[default]\nendpoint_url = {endpoint}\n",
            "credentials": f"[default]\n{_KEYS}",
        }
