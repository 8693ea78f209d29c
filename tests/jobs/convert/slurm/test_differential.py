"""A converted script gives the ranks what bash would have given them, or is refused."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests import kubelet
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.slurm.convert import read_batch_script

NAMES = ("A", "B", "C")
_SHOW = 'for each; do printf "%s\\0" "$each"; done\n'
_PROGRAMS = {
    "srun": f'#!/bin/bash\nexec >> "$OUT"\n{_SHOW}exit 3\n',
    "mpirun": '#!/bin/bash\nexec >> "$OUT"\n'
    'while [ "$1" = -x ]; do keep+=("$2"); shift 2; done\n'
    f"for name in {' '.join(NAMES)}; do\n"
    '  [[ " ${keep[*]} " = *" $name "* ]] || printf -v "$name" %s "$(printenv "POD_$name")"\n'
    f'  export "$name"\ndone\n{_SHOW}exit 3\n',
    "module": "#!/bin/bash\nexit 0\n",
}
_SHOWN = "\n".join(f'printf "%s=%s\\0" {name} "${name}"' for name in NAMES) + "\n"


@dataclass(frozen=True)
class Ran:
    """What a launch got, and how the script ended."""

    words: Sequence[str]
    code: int


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("programs")
    for name, text in _PROGRAMS.items():
        (found / name).write_text(text.replace("exit 3", f"{_SHOWN}exit 3"), "utf-8")
        (found / name).chmod(0o755)
    (found / "one.h5").touch()
    return found


def run(folder: Path, words: Sequence[str], environment: Mapping[str, str]) -> Ran:
    out = folder / "out"
    out.unlink(missing_ok=True)
    own = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": "/home/a", "OUT": str(out)}
    done = subprocess.run(
        words, cwd=folder, env={**own, **environment}, capture_output=True, check=False
    )
    return Ran(out.read_text("utf-8").split("\0") if out.exists() else [], done.returncode)


def in_a_pod(folder: Path, draft: Draft) -> Ran:
    environment: dict[str, str] = {}
    for each in draft.env:
        environment[each["name"]] = kubelet.given(each["value"], environment)
    pod = {f"POD_{name}": value for name, value in environment.items()}
    words = [kubelet.given(word, environment) for word in (*draft.command, *draft.args)]
    return run(folder, words, {**environment, **pod})


PIECES = st.sampled_from(
    [
        *("x", "1", "a-b", "--k=v", "''", '""', "'p q'", '"r s"', "\\$A", "'$A'", "$'t\\tu'"),
        *("{1,2,3}", "{1..3}", "*.h5", "~", "x~", "a=~", '"{1,2}"', '"*.h5"', "$(($$>1))", '$"l"'),
        *("$A", '"$A"', "${A}", "${B:-d}", "${B-d}", "$B$A", '"$A $B"', "$C", '"$C --x"'),
        *("$(echo s)", '"$(echo s t)"', "`echo u`", "$((1+2))", '"$A"$B', "${A%x}", "${#A}"),
        *('"${A[@]}"', "${A[@]}", '"${A[*]}"', "${B[*]}", '"${B[@]}"', "${#A[@]}", '"${A[0]}"'),
        *("$(cat <<X\nit's $A )\nX\n)", "\"$(cat <<-'X'\n\t$A'(\n\tX\n)\"", "$(echo a # b'c\n)"),
        *("$(A)", '"\\$(A)"', "'$(B)'", "a\\ b", "[x]", "#c", "a#b", "'#'"),
    ]
)
WORDS = st.lists(PIECES, min_size=1, max_size=2).map("".join)
VALUES = st.one_of(
    st.just(""), WORDS, PIECES.map(lambda each: f'"${{A}} {each}"'.replace('""', ""))
)
NAME = st.sampled_from(NAMES)


def line(template: str) -> st.SearchStrategy[str]:
    return st.builds(template.format, NAME, VALUES, NAME, VALUES)


LINES = st.one_of(
    *map(
        line,
        [
            *("{0}={1}", "{0}={1}", "{0}+={1}", "export {0}={1}", "export {0}", "unset {0}"),
            *(
                "{0}={1} {2}={3}",
                "export {0}={1} {2}={3}",
                "{0}={1}; export {0}",
                "declare {0}={1}",
            ),
            *('[ -z "${0}" ] && {2}={1}', '[ -n "${0}" ] || export {2}={1}', "true && {0}={1}"),
            *("false || {0}={1}", "false && {0}={1}", "module load x || {0}={1}"),
            *("{0}={1} && {2}={3}", "{0}=$(false) || {2}={3}", "true && unset {0}", "set -e"),
            *("false && module load x", "true || module load y && {0}={1}", "exec > log"),
            *("readonly {0}={1}", "read {0} < one.h5", "IFS=,", "{0}=({1} {3})", "set -- {1}"),
            *("{0}=({1})", "{0}+=({1})", "declare -a {0}=({1} {3})", "declare -ax {0}=({1})"),
            *("export {0}=({1})", "{0}=({1} # {2}\n{3})", "{0}+=({1} {3})", "{0}[1]={1}"),
            *(
                'if [ -n "${0}" ]; then {2}={1}; else export {2}={3}; fi',
                "for {0} in {1} {3}; do :; done",
            ),
            *(
                "f() {{ {0}={1}; }}; f",
                "f() {{ local {0}={1}; {2}=${0}; }}\nf",
                "{{ {0}={1}; }} > log",
            ),
            *("cat > log <<X\n{1} ${0}\nX", "if false; then export {0}={1}; fi", "({0}={1})"),
            *("while [ -z $D ]; do D=1; {0}+={1}; done", "case ${0} in x) {2}={1};; esac"),
            *("{0}=$((${2} * 2))", "export {0}=$((2*3+1))", "[[ ${0} == x* ]] && {2}={1}"),
            *("printf -v {0} {1}", "eval {0}={1}", "export -n {0}", "A={1} true", "{0}=${0}"),
        ],
    )
)
BLOCKS = st.builds(
    str.format,
    st.sampled_from(
        [
            *("for A in 1 'a b'; do srun ./train {0}; done", "srun ./train {0}; srun ./other {1}"),
            *("if [ -f one.h5 ]; then srun ./train {0}; else srun ./other {1}; fi",),
            *(
                "f() {{ srun ./train {0}; }}\nf\nB={1}; f",
                "B=1 srun ./train {0} && srun ./other {1}",
            ),
            *("srun ./train {0}\nA={1}\nexport B={1}\nsrun ./train {0}", "{{ srun ./train {0}; }}"),
            *(
                'f() {{ srun ./train "$@"; }}; f {0} {1}',
                "! srun ./train {0}",
                "(srun ./train {0})",
            ),
            *("srun ./train {0} || {{ srun ./other {1}; exit 5; }}",),
        ]
    ),
    WORDS,
    WORDS,
)
LAUNCHES = st.builds(
    "{}srun ./train {}{}".format,
    st.sampled_from(
        ["", "", "A=1 ", "B=$A ", "true && ", "false || ", "[ -f one.h5 ] && ", "exec "]
    ),
    st.lists(WORDS, max_size=3).map(" ".join),
    st.sampled_from(["", "", " || exit 7", " && exit 0", "; A=9", " || true", " > log 2>&1"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lines=st.lists(LINES, max_size=4), launch=LAUNCHES | BLOCKS)
@example(lines=["A=x", 'A="$A --x"'], launch="srun ./train $A")
@example(lines=["B=( )"], launch="B=1 srun ./train x && srun ./other x")
@example(lines=["B=( )"], launch="B=1 srun ./train x")
@example(lines=['A="${A} x" B='], launch="srun ./train ")
@example(lines=['A="-x 1\n#b 2"'], launch="srun ./train $A")
@example(lines=["A= A=x"], launch="B=$A srun ./train ")
@example(lines=["readonly B="], launch="B=1 srun ./train x && srun ./other x")
@example(lines=["readonly A="], launch="for A in 1 'a b'; do srun ./train x; done")
@example(lines=["A=", 'A="${A} "{1,2}; export A'], launch="srun ./train ")
@example(lines=["A="], launch="srun ./train \\$A${B:-d}")
@example(lines=["A=1 B=2", "export C=3 # x"], launch="srun ./train $A $B")
@example(lines=[], launch="srun ./train x\nA=${#A}\nexport B=${#A}\nsrun ./train x")
@example(lines=['[ -z "$D" ] && A=/x'], launch="srun ./train $A")
@example(lines=['A=""'], launch="srun ./train $A")
@example(lines=["A=a; A+=b"], launch="srun ./train $A")
@example(lines=[], launch="srun ./train {1,2,3} $'\\t'")
@example(lines=["export A=1", "unset A"], launch="srun ./train $A")
@example(lines=["A=$(true)", "B=${A:-x}"], launch="srun ./train ${A:-y} $B")
@example(lines=["export A=1", "A=2"], launch="srun ./train")
@example(lines=["export A=1"], launch="srun ./train $A; export A=2")
@example(lines=[], launch="srun ./train \\$A $A")
@example(lines=["A=1"], launch="A=2 srun ./train $A")
@example(lines=["export A", "A=1"], launch="srun ./train")
@example(lines=["A=1", "export A", "A={1,2}"], launch="srun ./train")
@example(lines=['readonly C="${A} x"', "C=; export C"], launch="srun ./train")
@example(lines=["export A=1", "readonly A", "unset A"], launch="srun ./train $A")
@example(lines=["readonly A=1"], launch="A=2 srun ./train $A")
@example(lines=["A=", 'export A=x A="${A} x"'], launch="srun ./train")
@example(lines=["export A=$(echo s)"], launch="srun ./train '$(A)' '$$x' $(($$>0))")
@example(lines=["false || A=x", "export A"], launch="srun ./train $A")
@example(lines=['A=(a "b c")', "A+=(d)"], launch='srun ./train "${A[@]}"')
@example(lines=["A=(a b)", 'A=("${A[@]}" c)', "B=x"], launch="srun ./train ${A[@]} $A")
@example(lines=["B=x", "A=($B y)", "B=z"], launch='srun ./train "${A[@]}"')
@example(lines=["A=x", "A+=(y)"], launch='srun ./train "${A[@]}"')
@example(lines=["A=(a b)", "A[1]=c", "A[2]+=d"], launch='srun ./train "${A[@]}"')
@example(lines=["A[1]="], launch="A=1 srun ./train")
@example(lines=["export B={1,2,3}"], launch="srun ./train")
@example(lines=["A=(./train a)"], launch='srun "${A[@]}"')
@example(lines=[], launch="f() { srun ./train ${B:-d}; }\nf\nB=x; f")
@example(lines=[], launch="srun ./train x\nA=x\nexport B=x\nsrun ./train x")
@example(lines=[], launch="for A in 1 'a b'; do srun ./train $B$Aa\\ b; done")
@example(lines=["A=(srun ./train a)"], launch='"${A[@]}" b')
@example(lines=["declare -a A=(./train '*.h5' *.h5)"], launch='srun "${A[@]}"')
def test_ranks_get_what_bash_would_give_them(folder: Path, lines: list[str], launch: str) -> None:
    script = "\n".join(["#!/bin/bash", "#SBATCH --nodes=2 --ntasks-per-node=8", *lines, launch])
    (draft,) = read_batch_script("x.sbatch", script)
    if any(note.kind == "refused" for note in draft.notes):
        return

    # The grammar reads a few scripts that bash does not: their jobs fail with Slurm too.
    assume(
        subprocess.run(["bash", "-nc", script], capture_output=True, check=False).returncode == 0
    )
    by_slurm = run(folder, ["bash", "-c", script], {})

    assert in_a_pod(folder, draft) == by_slurm
