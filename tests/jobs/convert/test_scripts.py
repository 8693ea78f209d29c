"""Scripts that are carried over as they are: what in them does not work is found, and only that."""

from __future__ import annotations

import pytest

from trainyard_jobs.convert.options import Ranks
from trainyard_jobs.convert.scripts import calls_mpi, logins, remarks_of, slots_of

OPEN = Ranks("openmpi", 2, 8)


def found(script: str, ranks: Ranks = OPEN) -> list[str]:
    return [what for _, what, _ in remarks_of(script, ranks)]


@pytest.mark.parametrize(
    "script",
    [
        *("ssh a true", "while ! ssh $h exit; do sleep 1; done", "x && /usr/bin/ssh -p 22 a"),
        *("for h in a b; do scp f $h:; done", "(ssh a)", "out=$(ssh a date)", "`ssh a`"),
        *("if timeout 5 ssh a true; then b; fi", "sshpass -p x ssh a", "pdsh -w a date"),
        *("bash -c 'ssh a date'", 'bash -c "ssh a date"', "ssh-keyscan a >> known", "a\nrsh b c"),
        *(
            "until nc -z a 22; do sleep 1; done",
            "until nc -z $(cut -f1 x | tail -n1) 22; do a; done",
        ),
        *("echo > /dev/tcp/$h/22", "true || clush -a date", "else ssh a\nfi", "time ssh a b"),
    ],
)
def test_login_to_another_pod_is_found(script: str) -> None:
    assert [what for _, what, _ in logins(script)]


@pytest.mark.parametrize(
    "script",
    [
        *("service ssh start", "ls .ssh", "ssh-keygen -A", "/usr/sbin/sshd -De", "ssh"),
        *("mpirun -mca plm_rsh_agent ssh ./a", "./ssh bench", "python ssh.py a", "nc -z a 2222"),
        *("echo /dev/tcp/a/2222", "apt-get install ssh rsync", "FOO=ssh ./a"),
    ],
)
def test_what_is_no_login_is_not_remarked(script: str) -> None:
    assert not list(logins(script))


@pytest.mark.parametrize(
    "script",
    [
        *("sed -n 5p f", "head -n 3 f | sort -n 4", "mpirun ./a | sed -n 2p; tail -n 9 f"),
        *("mpirun -np 16 ./a -np 3", "mpirun -n 16 ./a && python b.py -n 3", "echo -np 3"),
        *("mpirun --hostfile /etc/mpi/hostfile --allow-run-as-root ./a", "mpirun $EXE -n 3"),
        *("mpirun --map-by slot --bind-to none ./a", "mpirun -x PATH -x HOME=/x ./a"),
        *("mpirun --mca btl_vader_single_copy_mechanism none ./a", "export PATH=/x:$PATH"),
        *("OMPI_MCA_coll_hcoll_enable=0 mpirun ./a", "echo $NCCL_IB_HCA ${NCCL_IB_HCA}"),
        *("mpirun --mca orte_keep_fqdn_hostnames 1 ./a", "cmpirun -np 3 ./a"),
    ],
)
def test_script_that_works_is_not_remarked(script: str) -> None:
    assert found(script) == []


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("mpirun -np 64 ./a", "`-np 64`"),
        ("mpirun \\\n  -np 64 \\\n  ./a", "`-np 64`"),
        ("x; $(which mpirun) -np 64 ./a", "`-np 64`"),
        ("/opt/mpi/bin/mpiexec --n 64 ./a", "`--n 64`"),
        ('bash -c "mpirun -np 64 ./a"', "`-np 64`"),
        ("mpirun -H a,b ./a", "`-H a,b`"),
        ("ARGS='-x A'\nmpirun $ARGS -H a,b ./a", "`-H a,b`"),
        ('ARGS=(-x A)\nmpirun "${ARGS[@]}" -H a,b ./a', "`-H a,b`"),
        ("mpirun --hostfile /tmp/hosts ./a", "`--hostfile /tmp/hosts`"),
        ("mpirun --map-by ppr:2:socket ./a", "`--map-by ppr:2:socket`"),
        ("mpirun -bind-to none -map-by slot ./a", "`-bind-to none`"),
        ("mpirun --mca btl tcp,self ./a", "`--mca btl tcp,self`"),
        ('A="--mca btl_tcp_if_exclude lo"\nmpirun $A ./a', "`--mca btl_tcp_if_exclude lo`"),
        ("mpirun --prtemca plm ssh ./a", "`--prtemca plm ssh`"),
        ("export OMPI_MCA_pml=ob1", "OMPI_MCA_pml"),
        ('export OMPI_MCA_btl_tcp_if_include="eth0"', "OMPI_MCA_btl_tcp_if_include"),
        ("export NCCL_IB_PKEY=1", "NCCL_IB_PKEY"),
        ("mpirun -x TP_SOCKET_IFNAME=ib0 ./a", "TP_SOCKET_IFNAME"),
        ("horovodrun -np 16 ./a", "horovodrun"),
    ],
)
def test_what_the_runtime_decides_is_remarked_once(script: str, what: str) -> None:
    assert found(script).count(what) == 1


def test_script_for_hydra_is_read_as_such() -> None:
    intel = Ranks("intel-mpi", 2, 8)

    assert found("mpiexec -f hosts -ppn 8 ./a", intel) == ["`-f hosts`", "the script"]


@pytest.mark.parametrize(
    ("script", "slots"),
    [
        *(
            ("mpirun -npernode 4 ./a", 4),
            ("mpirun ./a", 0),
            ("mpirun -N 4 ./a; mpirun -N 4 ./b", 4),
        ),
        *(("mpirun -N 4 ./a; mpirun ./b", 0), ("sed -N 4", 0), ("", 0)),
    ],
)
def test_calls_state_the_ranks_of_each_node(script: str, slots: int) -> None:
    assert slots_of(script, OPEN) == slots


def test_calls_of_mpi_are_found() -> None:
    assert calls_mpi("pip list && mpirun -np 2 ./a")
    assert not calls_mpi("pip install mpirun4py; ls /opt/mpirun-4")
