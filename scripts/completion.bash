# SPDX-License-Identifier: Apache-2.0
# Completion of weft's programs in bash: subcommands and options as their --help tells them, else names of files.
_weft() {
  local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} word words=""
  local -a commands=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    commands+=("$word")
  done
  if [[ $current == -* ]]; then
    # Of the innermost subcommand that is typed: "trace diff A" has the options of "trace diff".
    local help=""
    while ! help=$("$program" "${commands[@]}" --help 2>/dev/null) && ((${#commands[@]})); do
      unset 'commands[-1]'
    done
    # Once each: --help also tells which options exclude which.
    words=$(grep -oE -- '(^|[ ,])--?[a-z][a-z0-9-]*' <<<"$help" | tr -d ' ,' | sort -u)
  else
    words=$("$program" "${commands[@]}" --help 2>/dev/null | sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z0-9-]*\) .*/\1/p')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o bashdefault -o default -F _weft weft weft-relay weft-sim weft-node weft-pingpong weft-copy weft-allgather weft-node-barrier weft_write_bw weft_write_lat
