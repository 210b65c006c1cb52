# The contender that contenders/objects.sh tests, as one program, and what it lists. Sourced, with its command as the
# arguments.

. "$(dirname "$0")/program.sh"

# Its methods, one a line: METHOD READS TLS PARAMETERS (with http=1, http=2
# if it can be set so), and the grid: METHOD WORK SCAN.
"$program" methods | sed 's/": /":/g; s/, "/,"/g' | grep -E '"reads":"(url|both|object)"' >"$folder/listing"
grep '"unavailable"' "$folder/listing" |
    sed 's/.*"method":"\([^"]*\)".*"unavailable":"\(.*\)".*/SKIPPED: \1: \2/' >&2
awk -v grid="$folder/grid" -v only=" ${METHODS-} " '
    function text(name) { return match($0, "\"" name "\":\"[^\"]*\"") ? between(length(name) + 5, 1) : "" }
    function between(left, right) { return substr($0, RSTART + left - 1, RLENGTH - left - right + 1) }
    # A control proves nothing.
    /"unavailable"/ || /"cache":"none"/ { next }
    {
        method = text("method")
        if (only !~ /^ *$/ && !index(only, " " method " ")) next
        parameters = ","
        rest = $0
        while (match(rest, /"name":"[^"]*"/)) {
            parameters = parameters substr(rest, RSTART + 8, RLENGTH - 9) ","
            rest = substr(rest, RSTART + RLENGTH)
        }
        if (match($0, /\{[^{}]*"name":"http"[^{}]*\}/)) {
            http = substr($0, RSTART, RLENGTH)
            if (http ~ /"min":1[,}]/) parameters = parameters "http=1,"
            if (http ~ /"max":2[,}]/) parameters = parameters "http=2,"
        }
        print method, text("reads"), (/"tls":true/ ? "tls" : "-"), parameters
        scans = $0; sub(/.*"scans":\{/, "", scans); sub(/\}.*/, "", scans)
        n = split(scans, works, "]")
        for (i = 1; i < n; i++) {
            work = works[i]; sub(/^,?"/, "", work); sub(/".*/, "", work)
            list = works[i]; sub(/.*\[/, "", list)
            m = split(list, each, ",")
            for (j = 1; j <= m; j++) { gsub(/"/, "", each[j]); print method, work, each[j] >grid }
        }
    }' "$folder/listing" >"$folder/methods"
[ -s "$folder/methods" ] || { echo "0 passed, 0 failed: it reads no URLs and no objects" >&2; exit 0; }
