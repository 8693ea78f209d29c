# All-reduce of NCCL on 1, 2, 4, ... and all hosts, by all_reduce_perf; finds a silent fallback to TCP.
# Settings: mpirun; bytes of the message; gpus of a rank; one and more, thresholds in GB/s of busbw on
# one host and on several; rails, or other ports of a fabric; direct, if the network writes into the memory of GPUs;
# nvlink, if it connects the hosts.

need all_reduce_perf "build nccl-tests with MPI=1 into the runtime's image (github.com/NVIDIA/nccl-tests)"

# reduce HOSTS: the figure, then what the log says about the network.
reduce() {
  local count=$1 line bus=none wrong='' socket='' indirect='' devices='' domain='' found rest
  # On two hosts a tree would give more than the network has.
  local -a algorithm=()
  ((count != 2)) || algorithm=(NCCL_ALGO=RING)
  while read -r line; do
    case $line in
      *"Avg bus bandwidth"*:*) bus=${line##*: } ;;
      *"Out of bounds values"*FAILED*) wrong=yes ;;
      *"Using network Socket"* | *"via NET/Socket/"* | *"NET/IB : No device found"*) socket=yes ;;
      *"NET/IB : Using ["*)
        # [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>
        rest=${line##*NET/IB : Using} rest=${rest//\[RO]/} rest=${rest//[^\[]/} found=${#rest}
        [[ -n $devices ]] && ((devices <= found)) || devices=$found
        ;;
      *"NET/OFI Selected"*"rovider is efa"*"(found "*)
        found=${line##*(found } found=${found%% *}
        [[ -n $devices ]] && ((devices <= found)) || devices=$found
        ;;
      *"via P2P/MNNVL"*) domain=yes ;;
      *"GPU Direct RDMA Disabled"*) indirect=yes ;;
      *"via NET/"*GDRDMA*) ;;
      *"via NET/IB/"* | *"via NET/"*Libfabric/*) indirect=yes ;;
    esac
  done < <(
    "$mpirun" -np $((count * slots)) env NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET "${algorithm[@]}" \
      all_reduce_perf -b "$bytes" -e "$bytes" -g "$gpus" -n 20 2>&1 | tee >(cat >&2)
  )
  bus=${bus%% *}
  at_least all-reduce "$count of ${#hosts[@]} hosts" "$bus" "$([[ $count == 1 ]] && echo "$one" || echo "$more")" GB/s
  [[ -z $wrong ]] || row values "$count of ${#hosts[@]} hosts" wrong "" "FAILED: NCCL computed other values"
  ((count > 1)) || return 0
  [[ -z $nvlink || -n $domain ]] ||
    row "NVLink between hosts" "$count of ${#hosts[@]} hosts" off on "FAILED: not in one NVLink domain"
  ((rails > 0)) || return 0
  at_least "devices of NCCL" "$count of ${#hosts[@]} hosts" "${devices:-0}" "$rails"
  [[ -z $socket ]] || row "network of NCCL" "$count of ${#hosts[@]} hosts" TCP RDMA "FAILED: not the fabric"
  [[ -z $direct || -z $indirect ]] ||
    row "GPUDirect RDMA" "$count of ${#hosts[@]} hosts" off on "FAILED: through the host's memory"
}

for ((count = 1; count < ${#hosts[@]}; count *= 2)); do
  reduce "$count"
done
reduce "${#hosts[@]}"
finish
