"""Text that means something to a reader of our outputs."""

from __future__ import annotations

from hypothesis import strategies as st

HOSTILE = (
    "::error::forged",
    " ::add-mask::e",
    "%0A::stop-commands::x",
    "##[add-mask]e",
    "a##[error]b",
    "[link](https://evil.example.com)",
    "[link](1)",
    "![image](https://evil.example.com/i.png)",
    "{0}",
    "@everyone",
    "#1 !1 ~label %1 &1",
    "/merge",
    "\n/merge\n",
    "<script>alert(1)</script>",
    "<!-- trainyard -->",
    "</details>",
    "]]></failure>",
    "&amp;&lt;",
    "```",
    "\n```\n@everyone\n",
    "~~~~",
    "`` ` ``",
    "| a | b |\n|---|---|",
    "# heading",
    "> quote",
    "- item",
    "    code",
    "https://evil.example.com www.evil.example.com a@evil.example.com",
    "\x1b]0;title\x07\x1b[2J",
    "\u202edesrever\u2066",
    "\u200b\ufeff\u00ad",
    "\r\n\r\x00\x0b\x0c\x85\u2028\u2029",
    "\uffff\ufffe",
    "a" * 5000,
    "%25%0D%3A%2C",
    "'\"\\$(id)${{ github.token }}",
    "\\",
    "\\]()",
)

STEERING = tuple(text for text in HOSTILE if "::" in text or "##[" in text or "\x1b" in text)
"""Text that would steer a terminal or a runner of GitHub Actions."""

texts = st.text(max_size=40) | st.sampled_from(HOSTILE)


def named(text: str) -> str:
    """Return a short name of a text, for the report of a test."""
    return ascii(text[:40])
