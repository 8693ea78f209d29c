"""Hypothesis strategies for what users hand in: objects, Python, scripts, words and answers."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.corpus import places
from trainyard.yaml_io.source import Plain
from trainyard_jobs.convert.words import words as words_of

_DIGITS = "9" * 4301
_TEXTS = st.sampled_from(
    [
        *(
            "",
            " ",
            "x",
            "-",
            ".",
            "..",
            "a/b",
            "../..",
            "a" * 300,
            "$(A)",
            "$$",
            "{}",
            "[]",
            "null",
        ),
        *(
            "0",
            "-1",
            "+1",
            "1.5",
            "1e999",
            "1e-999",
            "64Gi",
            "-1Gi",
            "1E",
            "0x10",
            _DIGITS,
            f"-{_DIGITS}",
        ),
        *(
            "1:2",
            "1-2",
            "8%4",
            "h100:8",
            "2027-02-30",
            "9999-12-31",
            "a=b",
            "--x=y",
            "https://[::1",
        ),
        *(
            "\u0430",
            "\u202e",
            "\u0663",
            "\U0001f600",
            "\x1b[2J",
            "\r\n",
            "\t",
            "\x00",
            "##[error]",
            "::x::",
        ),
    ]
)
_NUMBERS = st.sampled_from([-1, 0, 1, 8, 2**31, 2**63, 2**64, -(2**63) - 1, 10**40, 1.5, 1e300])
_SIMPLE = (
    st.none() | st.booleans() | _NUMBERS | st.integers(-10, 300) | _TEXTS | st.text(max_size=8)
)
ANYTHING = st.recursive(
    _SIMPLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_RAW = st.sampled_from(
    [
        *(
            b"\xff",
            b"\xed\xa0\x80",
            b"\x00",
            b"\xef\xbb\xbf",
            b"---\n",
            b"&a ",
            b"*a",
            b"<<: *a",
            b"!t ",
        ),
        *(
            b"[" * 200,
            b"{" * 200,
            b"(" * 300,
            b"- " * 200,
            b"not " * 400,
            b"-" * 400,
            b"\n",
            b"\\\n",
        ),
        *(b"'", b'"', b"`", b"#SBATCH ", b"$(", b"${", b"<<EOF", b"|", b"&&", b";", b"999" * 2000),
    ]
)


@st.composite
def spoilt(draw: st.DrawFn, bodies: list[Plain]) -> Plain:
    """Return an object of which up to four parts are removed, repeated, moved or anything."""
    body = copy.deepcopy(draw(st.sampled_from(bodies)))
    for _ in range(draw(st.integers(1, 4))):
        known = list(places(body))
        if not known:
            return draw(ANYTHING)
        container, step = draw(st.sampled_from(known))
        action = draw(st.sampled_from(["replace", "replace", "move", "remove", "repeat", "rename"]))
        if action == "remove":
            del container[step]
        elif action == "repeat" and isinstance(container, list):
            container.extend([container[step]] * draw(st.sampled_from([1, 2, 300])))
        elif action == "rename" and isinstance(container, dict):
            container[draw(_TEXTS)] = container.pop(step)
        elif action == "move":
            other, place = draw(st.sampled_from(known))
            container[step] = copy.deepcopy(other[place]) if _has(other, place) else draw(ANYTHING)
        else:
            container[step] = draw(ANYTHING)
    return body


def _has(container: Plain, step: Any) -> bool:
    """Return whether an earlier edit left a value in its place."""
    return step in container if isinstance(container, dict) else step < len(container)


@st.composite
def as_json(draw: st.DrawFn, bodies: list[Plain]) -> bytes:
    """Return spoilt objects as JSON; huge numbers are written as such."""
    written = json.dumps(draw(spoilt(bodies)), ensure_ascii=draw(st.booleans()))
    for number in ("8", "16"):
        if draw(st.integers(0, 9)) == 0:
            written = written.replace(f": {number}", f": {_DIGITS}", 1)
    return written.encode("utf-8", "surrogatepass")


@st.composite
def damaged_text(draw: st.DrawFn, contents: list[bytes]) -> bytes:
    """Return a file with up to five pieces removed, repeated, or replaced by other ones."""
    content = draw(st.sampled_from(contents))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(content)))
        stop = draw(st.integers(start, min(start + 60, len(content))))
        other = draw(st.sampled_from(contents))
        source = draw(st.integers(0, len(other)))
        new = draw(
            st.sampled_from([b"", content[start:stop] * 2, other[source : source + 60]])
            | _RAW
            | _TEXTS.map(str.encode)
        )
        content = content[:start] + new + content[stop:]
    return content


_LITERALS = st.sampled_from(
    ["None", "True", "1", "-1", "8", "1.5", "1e999", "''", "'x'", "b'x'", "...", "1j", "'\\ud800'"]
) | st.sampled_from([_DIGITS[:4300], f"0x{'f' * 4000}", "'9' * 9", "f'{a}'", "f'{a:>9}'", "a", "b"])
_OPERATORS = st.sampled_from(["+", "-", "*", "**", "/", "//", "%", "<<", "and", "==", "if a else"])
_EXPRESSIONS = st.recursive(
    _LITERALS,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, _OPERATORS, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.lists(inner, max_size=4).map(lambda each: f"[{', '.join(each)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: f"({', '.join(each)},)"),
        inner.map("dict(k={})".format),
        inner.map("dict(**{})".format),
        inner.map("{{**{}}}".format),
        inner.map("{{*{}}}".format),
        inner.map("MPI(process_count_per_node={})".format),
        inner.map("Torchrun(smp={})".format),
        inner.map("TrainingInput({})".format),
        inner.map("not {}".format),
        inner.map("-{}".format),
        inner.map("{}.x".format),
        inner.map("{}[0]".format),
        inner.map("lambda: {}".format),
    ),
    max_leaves=8,
)
_ARGUMENTS = st.sampled_from(
    sorted(
        words_of("""
        image_uri instance_count instance_type entry_point source_dir hyperparameters environment
        distribution distributed max_run base_job_name checkpoint_s3_uri output_path compute
        use_spot_instances source_code command container_arguments container_entry_point
        input_data_config max_retry_attempts tags subnets unknown
        """)
    )
)


@st.composite
def python(draw: st.DrawFn) -> bytes:
    """Return Python source with an estimator whose arguments are any expressions."""
    lines = [f"{name} = {draw(_EXPRESSIONS)}" for name in ("a", "b")]
    for _ in range(draw(st.integers(1, 2))):
        keywords = [
            f"{draw(_ARGUMENTS)}={draw(_EXPRESSIONS)}" for _ in range(draw(st.integers(0, 6)))
        ]
        call = draw(
            st.sampled_from(["PyTorch", "Estimator", "ModelTrainer", "x.HuggingFace", "SKLearn"])
        )
        lines.append(f"e = {call}({', '.join(dict.fromkeys(keywords))})")
        lines.append(f"e.fit({draw(_EXPRESSIONS)})")
    return "\n".join(lines).encode()


_WORDS = st.sampled_from(
    sorted(
        words_of("""
        python train.py torchrun mpirun mpiexec horovodrun srun accelerate deepspeed -np -n --np -x
        A=b A --nproc_per_node --nnodes=2 --nproc-per-node=8 -m --bind-to core --map-by
        ppr:8:node -H host:8 --hostfile : -- - bash -c --fusion-threshold-mb env $A
        """)
    )
)
words = st.lists(_WORDS | _TEXTS | st.text(max_size=5), max_size=8)
texts = _TEXTS | st.text(max_size=8)
