# Writes on each mount, from all ranks at once, and reads on the next host what was written; prints both rates and compares.
# Settings: mpirun; mounts, with spaces between; megabytes of each host.

folder=.trainyard-test-${HOSTNAME%-launcher-0-0}-$RANDOM
size=$((${megabytes:-1024} / slots))
((size)) || size=1

microseconds() {
  echo $(($(date +%s%N) / 1000))
}

# own_part: the number of this rank among those of its host.
own_part() {
  echo "${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}}"
}

# repeated TIMES FILE
repeated() {
  local i
  for ((i = 0; i < $1; i++)); do cat "$2"; done
}

write() {
  local mount=$1 folder=$2 size=$3 seed file begin end sum part
  part=$(own_part)
  seed=$(mktemp) file=$mount/$folder/$HOSTNAME-$part
  head -c 1048576 /dev/urandom > "$seed"
  if ! mkdir -p "${file%/*}" || ! : > "$file"; then
    echo "trainyard-storage write $HOSTNAME $part none none none"
    return 0
  fi
  begin=$(microseconds)
  repeated "$size" "$seed" | dd of="$file" bs=1M iflag=fullblock conv=fsync status=none
  end=$(microseconds)
  sum=$(repeated "$size" "$seed" | sha256sum)
  rm -f "$seed"
  echo "trainyard-storage write $HOSTNAME $part $begin $end ${sum%% *}"
}

read_back() {
  local mount=$1 folder=$2 begin end sum file names i part
  shift 2
  part=$(own_part) names=("$@")
  for ((i = 0; i < $#; i++)); do
    # The file of the next host: its own one would come from its memory.
    [[ ${names[i]%%.*} != "$HOSTNAME" ]] || file=$mount/$folder/${names[(i + 1) % $#]%%.*}-$part
  done
  if [[ ! -r $file ]]; then
    echo "trainyard-storage read $HOSTNAME $part none none none"
    return 0
  fi
  dd if="$file" iflag=nocache count=0 status=none
  begin=$(microseconds)
  dd if="$file" of=/dev/null bs=1M status=none
  end=$(microseconds)
  sum=$(sha256sum "$file")
  echo "trainyard-storage read $HOSTNAME $part $begin $end ${sum%% *}"
}

clean() {
  local mount
  for mount in $mounts; do rm -rf "${mount:?}/$folder"; done
}
trap clean EXIT

# rate WHAT HOST: megabytes a second of all its ranks, from the first that began to the last that ended.
rate() {
  local part begin end first='' last=''
  for ((part = 0; part < slots; part++)); do
    read -r begin end _ <<< "${seen[$1 $2 $part]:-none}"
    [[ $begin != none ]] || { echo none && return; }
    [[ -n $first ]] && ((first < begin)) || first=$begin
    [[ -n $last ]] && ((last > end)) || last=$end
  done
  # Bytes a microsecond are megabytes a second.
  echo $((slots * size * 1048576 / (last - first)))
}

# sums WHAT HOST: of the content of each rank's file.
sums() {
  local part sum
  for ((part = 0; part < slots; part++)); do
    read -r _ _ sum <<< "${seen[$1 $2 $part]:-none none none}"
    echo "$sum"
  done
}

for mount in $mounts; do
  declare -A seen=()
  while read -r word what host part rest; do
    [[ $word != trainyard-storage ]] || seen[$what $host $part]=$rest
  done < <(
    on_each write "$mount" "$folder" "$size"
    on_each read_back "$mount" "$folder" "${hosts[@]}"
  )
  for ((i = 0; i < ${#hosts[@]}; i++)); do
    name=${hosts[i]%%.*} next=${hosts[(i + 1) % ${#hosts[@]}]%%.*}
    at_least "write $mount" "$name" "$(rate write "$name")" "" MB/s
    at_least "read $mount" "$name" "$(rate read "$name")" "" MB/s
    verdict="FAILED: other content"
    found=$(sums read "$name")
    [[ $found == *none* || $found != "$(sums write "$next")" ]] || verdict=ok
    row "content $mount" "$name" "of $next" "" "$verdict"
  done
done
finish
