#!/bin/sh
# The race of the GitHub action: builds a reader of files at its base and as the checkout has it, and races both in the
# same rounds. action.yml gives the inputs as variables of the environment.
#
# Exit: 0 not worse; 3 worse by more than READER_FAIL_OVER with its whole interval; 2 no base, no file, a build that fails;
# else that of readlab.
set -eu

refuse() {
    echo "readlab action: $1" >&2
    exit 2
}
[ -n "${READER_BASE-}" ] || refuse "no base to compare with: give the input 'base', or run on a pull request"
git rev-parse --quiet --verify "$READER_BASE^{commit}" >/dev/null ||
    refuse "the base $READER_BASE is not in this checkout: fetch it, for example by fetch-depth: 0"
[ -r "$READER_FILE" ] || refuse "$READER_FILE cannot be read"
# As `readlab compare --fail-over` reads it.
share=$(readlab share "$READER_FAIL_OVER" 2>&1) || refuse "fail-over: $(echo "$share" | sed -n "1s/^error: //p")"
file=$(realpath "$READER_FILE")
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/readlab.XXXXXX")
trap 'git worktree remove --force "$folder/base" 2>/dev/null || true' EXIT
git worktree add --quiet --detach "$folder/base" "$READER_BASE"
ln -s "$PWD" "$folder/head"
for side in base head; do
    (cd "$folder/$side" && sh -c "${READER_BUILD:-:}") >&2 || refuse "the build of the $side failed: $READER_BUILD"
done

cd_base="cd base && $READER_COMMAND"
cd_head="cd head && $READER_COMMAND"
code=0
# shellcheck disable=SC2086 # the options are several words
(cd "$folder" && readlab race "$file" --command "$cd_base" --command "$cd_head" --reference "command/$cd_base" \
    --method 'command/cd *' --quiet --export-json race.json --export-markdown tables.md ${READER_OPTIONS-}) || code=$?
[ -s "$folder/race.json" ] || exit "$code"

# A sentence for each cache state; the ratio is the base's time over that of the change.
jq --raw-output --arg id "command/$cd_head" --argjson share "$share" '
    (1 / (1 + $share)) as $least
    | ($share * 1e5 | round / 1e3) as $percent
    | .trials[] | select((.id == $id or .id + " {}" == $id) and .outcome == "measured")
    | def shown: . * 1000 | round / 1000;
      if .ratio == null or .ratio.ci95 == null then "- \(.state): too few readings to compare"
      else .ratio as $ratio | "- \(.state): the change is \($ratio.estimate | shown) times as fast as the base " +
          "[\($ratio.ci95[0] | shown), \($ratio.ci95[1] | shown)]" +
          (if $ratio.ci95[1] < $least then ": **slower by more than \($percent) %**"
           elif $ratio.ci95[0] > 1 then ": faster" elif $ratio.ci95[1] < 1 then ": slower, within \($percent) %"
           else ": no difference" end)
      end' "$folder/race.json" >"$folder/sentences.md"
[ -s "$folder/sentences.md" ] || refuse "the change was not measured"
{
    echo "### Reading ${READER_FILE##*/}: the change against its base"
    echo
    cat "$folder/sentences.md"
    echo
    cat "$folder/tables.md"
} >"$folder/comment.md"
cat "$folder/sentences.md"
[ -z "${GITHUB_STEP_SUMMARY-}" ] || cat "$folder/comment.md" >>"$GITHUB_STEP_SUMMARY"
[ -z "${GITHUB_OUTPUT-}" ] || echo "markdown=$folder/comment.md" >>"$GITHUB_OUTPUT"
! grep -q 'slower by more than' "$folder/sentences.md" || exit 3
exit "$code"
