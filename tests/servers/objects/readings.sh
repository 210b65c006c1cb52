# Starts the readings of contenders/objects.sh, some at once, each with its own environment and files. Sourced.

# Readings that should be right take the processors; those that should fail mostly wait, until their client gives up.
mkfifo "$folder/working" "$folder/waiting"
exec 7<>"$folder/working" 8<>"$folder/waiting"
for _ in $(seq "${JOBS:-$(($(nproc) + 1))}"); do echo >&7; done
for _ in $(seq 8); do echo >&8; done
take_slot() {
    case $1 in
    ends) ;;
    failed | retried | either | ranged | no-file | unavailable) read -r _ <&8 ;;
    *) read -r _ <&7 ;;
    esac
}
leave_slot() {
    case $1 in
    ends) ;;
    failed | retried | either | ranged | no-file | unavailable) echo >&8 ;;
    *) echo >&7 ;;
    esac
}

cases=0
turns='go 0 1'
with=
reader=$program

# METHOD SCAN WORK TARGET [name=value …]: one session in the environment of this shell, which has traps: a reading may
# use no proxy, no configuration and no credentials but those that it is given.
session() {
    printf '%s\n' "$turns" |
        http_proxy=$NOWHERE https_proxy=$NOWHERE HTTP_PROXY=$NOWHERE HTTPS_PROXY=$NOWHERE ALL_PROXY=$NOWHERE \
            AWS_SHARED_CREDENTIALS_FILE="$folder/credentials" AWS_CONFIG_FILE="$folder/config" \
            AWS_EC2_METADATA_SERVICE_ENDPOINT="$other" \
            timeout "$limit" "$reader" read "$@" >"$run.out" 2>"$run.err" 4>&- 5>&- 6>&- 7>&- 8>&-
    echo $? >"$run.status"
}
printf '[default]\naws_access_key_id = READLABTRAP012345678\naws_secret_access_key = trap\n' >"$folder/credentials"
: >"$folder/config"
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 AWS_ENDPOINT_URL AWS_REGION \
    AWS_DEFAULT_REGION AWS_PROFILE AWS_CA_BUNDLE READLAB_TARGET READLAB_ETAG READLAB_CACERT READLAB_S3_STYLE \
    NO_PROXY no_proxy

# EXPECTED TITLE SCAN WORK TARGET [name=value …]: starts a reading by the method when there is a slot, to be judged
# later. Its environment is the assignments in $with.
start() {
    expected=$1
    title=$2
    shift 2
    cases=$((cases + 1))
    run=$folder/runs/$cases
    case $expected in
    ends) limit=$PATIENCE_S ;;
    failed | retried | either | ranged) limit=$DEADLINE_S ;;
    *) limit=$RIGHT_WITHIN_S ;;
    esac
    shown=$3
    [ "$shown" != - ] || shown=$(eval "$with"; echo "$READLAB_TARGET")
    printf '%s\t%s\t%s\t%s\t%s\n' "$run" "$expected" "$2" "${shown%%\?*}" "$method/$1 $2: $title" >>"$folder/cases"
    take_slot "$expected"
    (
        trap - EXIT HUP INT TERM
        set -a
        eval "$with"
        session "$method" "$@"
        leave_slot "$expected"
    ) &
    echo $! >"$run.pid"
}

wait_for_readings() {
    # shellcheck disable=SC2046 # one word a process
    wait $(cat "$folder"/runs/*.pid)
}
