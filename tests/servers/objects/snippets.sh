# The programs that advice shows for a contender: those in ./snippets, run by $SNIPPETS, which finds in ./build what
# they need. Each prints the newlines of the URL or object that its argument names. Sourced by contenders/objects.sh.

judge_snippets() {
    for snippet in snippets/*.*; do
        copy=build/snippet.$$.${snippet##*.}
        cp "$snippet" "$copy"
        if grep -q 's3:' "$snippet"; then
            [ -z "$s3_runs" ] || judge_snippet s3://bucket
        else
            [ -z "$nginx_runs" ] || judge_snippet "$http/bucket"
        fi
        rm "$copy"
    done
}

# WHERE: of every file there, the snippet prints the newlines.
judge_snippet() {
    for file in empty one-byte text long-text; do
        said=$(AWS_ENDPOINT_URL_S3=$endpoint AWS_REGION=$region AWS_DEFAULT_REGION=$region \
            AWS_ACCESS_KEY_ID=$access AWS_SECRET_ACCESS_KEY=$secret timeout "$RIGHT_WITHIN_S" $SNIPPETS "$copy" "$1/$file" 2>"$folder/snippet.err") ||
            said=$(cat "$folder/snippet.err")
        read -r _ newlines _ <"$folder/$file.truth"
        check "$snippet: $1/$file has $newlines newlines" [ "$said" = "$newlines" ]
    done
}
