# Starts each rank, and counts ranks, hosts, nodes, sets of cores and GPUs.
# Settings: mpirun; gpus of a pod; bound, if ranks have cores of their own; whole, if pods have nodes
# of their own.

report() {
  local node cores gpus=0 device
  read -r node < /proc/sys/kernel/random/boot_id
  cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
  for device in /dev/nvidia[0-9]*; do
    [[ -e $device ]] && gpus=$((gpus + 1))
  done
  echo "trainyard-rank ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-none}} $HOSTNAME $node $cores $gpus"
}

declare -A rank=() of_host=() cores_of=() gpus_of=() node=() places=()
while read -r word number host boot cores count; do
  [[ $word == trainyard-rank ]] || continue
  rank[$number]=$host
  node[$boot]=$host
  of_host[$host]=$((${of_host[$host]:-0} + 1))
  gpus_of[$host]=$count
  [[ -n ${places[$host $cores]:-} ]] || cores_of[$host]=$((${cores_of[$host]:-0} + 1))
  places[$host $cores]=taken
done < <(on_each report)

at_least ranks "the job" "${#rank[@]}" $((${#hosts[@]} * slots))
at_least hosts "the job" "${#of_host[@]}" "${#hosts[@]}"
[[ -z ${whole:-} ]] || at_least nodes "the job" "${#node[@]}" "${#hosts[@]}"
for host in "${hosts[@]}"; do
  name=${host%%.*}
  at_least "ranks of a host" "$name" "${of_host[$name]:-0}" "$slots"
  [[ -z ${bound:-} ]] || at_least "sets of cores" "$name" "${cores_of[$name]:-0}" "$slots"
  [[ -z ${gpus:-} ]] || at_least GPUs "$name" "${gpus_of[$name]:-0}" "$gpus"
done
finish
