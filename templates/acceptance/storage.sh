# Writes on each mount, and reads on the next host what was written; prints both rates and compares.
# Settings: mpirun; mounts, with spaces between; megabytes of each file.

folder=.trainyard-test-${HOSTNAME%-launcher-0-0}-$RANDOM
size=${megabytes:-1024}

microseconds() {
  echo $(($(date +%s%N) / 1000))
}

# repeated TIMES FILE
repeated() {
  local i
  for ((i = 0; i < $1; i++)); do cat "$2"; done
}

# Bytes a microsecond are megabytes a second.
write() {
  local mount=$1 folder=$2 size=$3 seed file begin end sum
  first_of_host || return 0
  seed=$(mktemp) file=$mount/$folder/$HOSTNAME
  head -c 1048576 /dev/urandom > "$seed"
  if ! mkdir -p "${file%/*}" || ! : > "$file"; then
    echo "trainyard-storage write $HOSTNAME none none"
    return 0
  fi
  begin=$(microseconds)
  repeated "$size" "$seed" | dd of="$file" bs=1M iflag=fullblock conv=fsync status=none
  end=$(microseconds)
  sum=$(repeated "$size" "$seed" | sha256sum)
  rm -f "$seed"
  echo "trainyard-storage write $HOSTNAME $((size * 1048576 / (end - begin))) ${sum%% *}"
}

read_back() {
  local mount=$1 folder=$2 size=$3 begin end sum file names i
  shift 3
  first_of_host || return 0
  names=("$@")
  for ((i = 0; i < $#; i++)); do
    # The file of the next host: its own one would come from its memory.
    [[ ${names[i]%%.*} != "$HOSTNAME" ]] || file=$mount/$folder/${names[(i + 1) % $#]%%.*}
  done
  if [[ ! -r $file ]]; then
    echo "trainyard-storage read $HOSTNAME none none"
    return 0
  fi
  dd if="$file" iflag=nocache count=0 status=none
  begin=$(microseconds)
  dd if="$file" of=/dev/null bs=1M status=none
  end=$(microseconds)
  sum=$(sha256sum "$file")
  echo "trainyard-storage read $HOSTNAME $((size * 1048576 / (end - begin))) ${sum%% *}"
}

clean() {
  local mount
  for mount in $mounts; do rm -rf "${mount:?}/$folder"; done
}
trap clean EXIT

for mount in $mounts; do
  declare -A written=() sums=() got=() same=()
  while read -r word what host rate sum; do
    [[ $word == trainyard-storage ]] || continue
    if [[ $what == write ]]; then
      written[$host]=$rate sums[$host]=$sum
    else
      got[$host]=$rate same[$host]=$sum
    fi
  done < <(
    on_each write "$mount" "$folder" "$size"
    on_each read_back "$mount" "$folder" "$size" "${hosts[@]}"
  )
  for ((i = 0; i < ${#hosts[@]}; i++)); do
    name=${hosts[i]%%.*} next=${hosts[(i + 1) % ${#hosts[@]}]%%.*}
    at_least "write $mount" "$name" "${written[$name]:-none}" "" MB/s
    at_least "read $mount" "$name" "${got[$name]:-none}" "" MB/s
    verdict="FAILED: other content"
    [[ -z ${same[$name]:-} || ${same[$name]} != "${sums[$next]:-}" || ${sums[$next]} == none ]] || verdict=ok
    row "content $mount" "$name" "of $next" "" "$verdict"
  done
done
finish
