# Bandwidth of each rail between neighbours, by ib_write_bw; then the latency of MPI, by osu_latency.
# Settings: mpirun; rails; link, as the kernel names it; gbps, the threshold of a rail; gpus, the GPU beside each rail if
# its network card may read and write GPU memory; tclass, of the packets; two, options that start one rank on each of two hosts.

need ib_write_bw "add the package perftest to the runtime's image"
need taskset "add the package util-linux to the runtime's image"

# device_of RAIL
device_of() {
  local device
  device=$(echo "/sys/class/net/net$(($1 + 1))/device/infiniband/"*)
  device=${device##*/}
  [[ $device == '*' ]] || echo "$device"
}

# index_of_gid DEVICE: RoCE needs the address that routes, InfiniBand none.
index_of_gid() {
  local port=/sys/class/infiniband/$1/ports/1 type index
  for type in "$port"/gid_attrs/types/*; do
    index=${type##*/}
    [[ $(cat "$type" 2> /dev/null) == "RoCE v2" ]] || continue
    [[ $(cat "$port/gids/$index") == 0000:0000:0000:0000:0000:ffff:* ]] && echo "$index" && return
  done
}

# figure: the average of ib_write_bw, the fourth of five numbers in its last row.
figure() {
  local line gap='[[:space:]]+' number='[0-9]+([.][0-9]+)?' average=none
  while read -r line; do
    [[ $line =~ ^[0-9]+$gap[0-9]+$gap$number$gap($number)$gap$number$ ]] && average=${BASH_REMATCH[2]}
  done
  echo "$average"
}

# rail NUMBER PORT PEER OPTION...: as a client where there is a peer, else as its server.
rail() {
  local number=$1 port=$2 peer=$3 device type gid log try
  shift 3
  device=$(device_of "$number")
  if [[ -z $device ]]; then
    echo "trainyard-rail $HOSTNAME $number none none"
    return
  fi
  type=$(cat "/sys/class/infiniband/$device/ports/1/link_layer")
  # The same size as where the threshold is from, on the CPUs beside the card: a rank may be bound to others.
  local -a command=(
    taskset -c "$(cat "/sys/class/infiniband/$device/device/local_cpulist")" ib_write_bw
    -d "$device" -p "$port" -s 8388608 -F --report_gbits -D 5 --perform_warm_up "$@"
  )
  gid=$(index_of_gid "$device")
  [[ $type != Ethernet || -z $gid ]] || command+=(-x "$gid")
  if [[ -z $peer ]]; then
    timeout 90 "${command[@]}" > /dev/null
    return
  fi
  log=$(mktemp)
  for ((try = 0; try < 30; try++)); do
    timeout 60 "${command[@]}" "$peer" > "$log" 2>&1 && break
    sleep 1
  done
  cat "$log" >&2
  echo "trainyard-rail $HOSTNAME $number $type $(figure < "$log")"
}

# exchange RAILS TCLASS GPUS DMABUF FROM TO...: each pair at once, on all rails. GPUS is empty for the memory of the host.
exchange() {
  local rails=$1 tclass=$2 dmabuf=$4 number port=18515
  local -a gpus options
  read -ra gpus <<< "$3"
  shift 4
  first_of_host || return 0
  export CUDA_DEVICE_ORDER=PCI_BUS_ID
  while (($#)); do
    for ((number = 0; number < rails; number++, port++)); do
      options=(${tclass:+"--tclass=$tclass"})
      if ((${#gpus[@]})); then
        options+=("--use_cuda=${gpus[number]}")
        # Without this module the card reaches GPU memory by DMA-BUF only.
        [[ -z $dmabuf || -d /sys/module/nvidia_peermem ]] || options+=(--use_cuda_dmabuf)
      fi
      [[ ${1%%.*} != "$HOSTNAME" ]] || rail "$number" "$port" "$2" "${options[@]}" &
      [[ ${2%%.*} != "$HOSTNAME" ]] || rail "$number" "$port" "" "${options[@]}" &
    done
    shift 2
  done
  wait
}

# ports RAILS: the address and the MAC of each rail.
ports() {
  local number device gid index
  first_of_host || return 0
  for ((number = 0; number < $1; number++)); do
    device=$(device_of "$number")
    index=$(index_of_gid "$device")
    [[ -n $index ]] || continue
    gid=$(cat "/sys/class/infiniband/$device/ports/1/gids/$index")
    gid=${gid: -9}
    echo "trainyard-port $HOSTNAME $number" \
      "$((16#${gid:0:2})).$((16#${gid:2:2})).$((16#${gid:5:2})).$((16#${gid:7:2}))" \
      "$(cat "/sys/class/net/net$((number + 1))/address")"
  done
}

# neighbours PORT...: how many addresses of each rail on other hosts are answered by that rail's own port.
neighbours() {
  local port host number address mac device _
  local -A expected=() right=()
  first_of_host || return 0
  for port in "$@"; do
    read -r host number address mac <<< "$port"
    [[ $host != "$HOSTNAME" ]] || continue
    expected[$address]="$number $mac net$((number + 1))"
    # Any packet makes the kernel ask whose address it is.
    (echo > "/dev/udp/$address/9") 2> /dev/null
  done
  sleep 1
  while read -r address _ _ mac _ device; do
    read -r number port <<< "${expected[$address]:-}"
    [[ -z $port || $port != "$mac $device" ]] || right[$number]=$((${right[$number]:-0} + 1))
  done < /proc/net/arp
  for number in "${!right[@]}"; do
    echo "trainyard-neighbours $HOSTNAME $number ${right[$number]}"
  done
}

# counters RAILS COUNTER...: the sum of each over the rails.
counters() {
  local rails=$1 name number value sum
  shift
  first_of_host || return 0
  for name in "$@"; do
    sum=none
    for ((number = 0; number < rails; number++)); do
      value=$(cat "/sys/class/infiniband/$(device_of "$number")/ports/1/hw_counters/$name" 2> /dev/null)
      [[ -z $value ]] || sum=$((${sum/none/0} + value))
    done
    echo "trainyard-counter $name $sum"
  done
}

# Those of packets that were sent again come first; then out of order, and congestion that was signalled.
names=(packet_seq_err local_ack_timeout_err out_of_sequence np_cnp_sent)
declare -A counted=()
# count SIGN: adds the counters of all hosts, or subtracts them.
count() {
  local word name value
  [[ $link == Ethernet ]] || return 0
  while read -r word name value; do
    [[ $word == trainyard-counter && $value != none ]] || continue
    counted[$name]=$((${counted[$name]:-0} $1 value))
  done < <(on_each counters "$rails" "${names[@]}")
}

declare -A bandwidth=() link_of=()
# measure KIND GPUS FROM TO...
measure() {
  local kind=$1 memory=$2 word host number type figure
  shift 2
  while read -r word host number type figure; do
    [[ $word == trainyard-rail ]] || continue
    bandwidth[$kind $host $number]=$figure link_of[$host $number]=$type
  done < <(on_each exchange "$rails" "${tclass:-}" "$memory" "${dmabuf:-}" "$@")
}

# Of each pair the first writes; no host is in two pairs of a round.
in_pairs() {
  local round i of
  local -a pairs
  for round in 0 1 2; do
    pairs=()
    for ((i = 0; i < ${#hosts[@]}; i++)); do
      of=$((i % 2))
      ((${#hosts[@]} % 2 && i == ${#hosts[@]} - 1)) && of=2
      ((of != round)) || pairs+=("${hosts[i]}" "${hosts[(i + 1) % ${#hosts[@]}]}")
    done
    ((${#pairs[@]} == 0)) || measure "$1" "$2" "${pairs[@]}"
  done
}

# all_to_one: the queues of the switch fill, on the path to the first host.
all_to_one() {
  local i number sum figure
  local -a pairs=()
  for ((i = 1; i < ${#hosts[@]}; i++)); do pairs+=("${hosts[i]}" "${hosts[0]}"); done
  measure one "" "${pairs[@]}"
  for ((number = 0; number < rails; number++)); do
    sum=0
    for ((i = 1; i < ${#hosts[@]}; i++)); do
      figure=${bandwidth[one ${hosts[i]%%.*} $number]:-none}
      [[ $sum != none && $figure != none ]] && sum=$((sum + 10#${figure%.*})) || sum=none
    done
    at_least "rail $number, all to one" "${hosts[0]%%.*}" "$sum" "" Gb/s
  done
}

if [[ $link == Ethernet ]]; then
  known=() place=()
  while read -r word host number address mac; do
    [[ $word != trainyard-port ]] || known+=("$host $number $address $mac")
  done < <(on_each ports "$rails")
  declare -A right=()
  while read -r word host number count; do
    [[ $word != trainyard-neighbours ]] || right[$host $number]=$count
  done < <(on_each neighbours "${known[@]}")
  for host in "${hosts[@]}"; do
    for ((number = 0; number < rails; number++)); do
      at_least "neighbours of rail $number" "${host%%.*}" "${right[${host%%.*} $number]:-0}" $((${#hosts[@]} - 1))
    done
  done
fi

count -
help=$(ib_write_bw --help 2>&1)
[[ $help != *--use_cuda_dmabuf* ]] || dmabuf=yes
in_pairs host ""
kinds=(host)
if [[ -n ${gpus:-} && $help == *--use_cuda=* ]]; then
  in_pairs gpu "$gpus"
  kinds+=(gpu)
elif [[ -n ${gpus:-} ]]; then
  row "rails, GPU memory" "all hosts" none "" "not measured: perftest of the image has no CUDA"
fi
for ((i = 0; i < ${#hosts[@]}; i++)); do
  name=${hosts[i]%%.*} next=${hosts[(i + 1) % ${#hosts[@]}]%%.*}
  for ((number = 0; number < rails; number++)); do
    type=${link_of[$name $number]:-none}
    [[ $type == "$link" ]] || row "rail $number" "$name" "$type" "$link" "FAILED: the rail's device"
    for kind in "${kinds[@]}"; do
      what="rail $number"
      [[ $kind == host ]] || what+=", GPU memory"
      at_least "$what" "$name to $next" "${bandwidth[$kind $name $number]:-none}" "$gbps" Gb/s
    done
  done
done
if [[ $link == Ethernet ]]; then
  ((${#hosts[@]} < 3)) || all_to_one
  count +
  for name in "${names[@]}"; do
    case $name:${counted[$name]:-none} in
      *:none) verdict="not measured: the port has no such counter" ;;
      packet_seq_err:0 | local_ack_timeout_err:0) verdict=ok ;;
      packet_seq_err:* | local_ack_timeout_err:*) verdict="FAILED: packets were sent again" ;;
      *) verdict="no threshold known" ;;
    esac
    row "$name" "all hosts" "${counted[$name]:-none}" "" "$verdict"
  done
fi

# The image may lack the OSU benchmarks.
if command -v osu_latency > /dev/null; then
  latency=none tcp=''
  read -ra options <<< "$two"
  while read -r line; do
    [[ $line =~ ^8[[:space:]]+([0-9.]+)$ ]] && latency=${BASH_REMATCH[1]}
    [[ $line == *UCX*[\(\ ]tcp/* ]] && tcp=$line
  done < <("$mpirun" "${options[@]}" env UCX_LOG_LEVEL=info osu_latency -m 8:8 2>&1 | tee >(cat >&2))
  at_least "latency, 8 bytes" "two hosts" "$latency" "" us
  [[ -z $tcp ]] || row "transport of MPI" "two hosts" TCP "" "FAILED: not the rails"
fi
finish
