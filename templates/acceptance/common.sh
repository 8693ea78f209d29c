# What each acceptance test begins with: its settings, its hosts, and the table that it prints.
set -uo pipefail

# Settings come as name=value, e.g. mpirun=/opt/trainyard/mpirun.
for pair in "$@"; do
  declare -- "$pair"
done

# Trainer writes a line for each pod: "job-node-0-0.job slots=8".
hosts=() slots=0
while read -r host count; do
  hosts+=("$host")
  slots=${count#slots=}
done < /etc/mpi/hostfile

rows=("what|where|measured|threshold|verdict")
failed=0

# row WHAT WHERE MEASURED THRESHOLD VERDICT
row() {
  local IFS='|'
  rows+=("$*")
  [[ $5 == FAILED* ]] && failed=1
  return 0
}

# at_least WHAT WHERE MEASURED THRESHOLD UNIT: numbers may have decimals, which are cut off.
at_least() {
  local verdict=ok
  if [[ ! $3 =~ ^[0-9]+([.][0-9]+)?$ ]]; then
    verdict="FAILED: no figure"
  elif [[ -z $4 ]]; then
    verdict="no threshold known"
  elif ((10#${3%.*} < 10#${4%.*})); then
    verdict=FAILED
  fi
  row "$1" "$2" "$3${5:+ $5}" "${4:+$4${5:+ $5}}" "$verdict"
}

# need TOOL HOW-TO-GET-IT: the end of the test where the image lacks a tool.
need() {
  command -v "$1" > /dev/null && return
  echo "trainyard: the image has no $1: $2" >&2
  exit 69
}

# on_each FUNCTION ARGUMENT...: runs a function of this script in each rank, on its own host; the log has it too.
# Open MPI 5 waits for ever for a rank that ends within milliseconds of its start.
on_each() {
  "$mpirun" bash -c "$(declare -f); $(printf '%q ' "$@") && sleep 1" 2>&1 | tee >(cat >&2)
}

# Only one rank of each host goes on.
first_of_host() {
  [[ ${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}} == 0 ]]
}

finish() {
  local line what where measured threshold verdict
  for line in "${rows[@]}"; do
    IFS='|' read -r what where measured threshold verdict <<< "$line"
    printf '%-22s  %-34s  %12s  %12s  %s\n' "$what" "$where" "$measured" "$threshold" "$verdict"
  done
  exit "$failed"
}
