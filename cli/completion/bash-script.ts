// BashScript: completion for bash, including version 3.2, which macOS has.
import type { CommandDescription, Completion } from '../description.ts';
import {
  firstWords,
  formsOf,
  formsWithValue,
  namesOfTwo,
  namesWithCommandLine,
  subcommandsBeside,
} from './option-words.ts';

export function bashScript(commands: readonly CommandDescription[]): string {
  const values = commands.flatMap(({ name, options }) =>
    Object.entries(options).flatMap(([option, described]) =>
      described.completes === undefined
        ? []
        : [
            `${formsOf(option, described)
              .map((form) => quoted(`${name} ${form}`))
              .join(' | ')}) ${offer(described.completes)} ;;`,
          ],
    ),
  );
  const options = commands.map(
    ({ name, options: own }) =>
      `${quoted(name)}) _svc_choices ${Object.keys(own)
        .map((option) => `--${option}`)
        .join(' ')} ;;`,
  );
  const words = commands.flatMap((command) =>
    command.words.flatMap(({ completes }, index) => {
      const own = index === 0 ? subcommandsBeside(command, commands) : [];
      const offers = [
        ...(completes === undefined ? [] : [offer(completes)]),
        ...(own.length === 0 ? [] : [offer({ kind: 'choices', choices: own })]),
      ];
      return offers.length === 0
        ? []
        : [`${quoted(`${command.name} ${index + 1}`)}) ${offers.join('; ')} ;;`];
    }),
  );
  return `# bash completion of svc; svc completion --help says where it goes.

_svc_choices() {
    local choice
    for choice in "$@"; do
        [[ $choice == "$cur"* ]] && COMPREPLY+=("$choice")
    done
}

_svc_lines() {
    local line
    while IFS= read -r line; do COMPREPLY+=("$line"); done
}

_svc_folders() {
    compopt -o filenames 2>/dev/null
    _svc_lines < <(compgen -d -- "$cur")
}

_svc_files() {
    _svc_folders
    _svc_lines < <(compgen -f -X "!*$1" -- "$cur")
}

# A name that a shell could take for more than a name is not offered.
_svc_components() {
    local dir=\${words[\${#words[@]} - at + 1]/#\\~/$HOME} name
    while IFS= read -r name; do _svc_choices "$name"; done \\
        < <(svc journal "$dir" -o names 2>/dev/null | grep -E '^[A-Za-z0-9._-]+$')
}

# The names that a command of svc prints, such as the ids of projects.
_svc_names() {
    local name
    while IFS= read -r name; do _svc_choices "$name"; done \\
        < <(svc "$@" -o names 2>/dev/null | grep -E '^[A-Za-z0-9._-]+$')
}

# Completes the command line that begins at this word as the shell completes any other; the two functions are those of the
# package bash-completion.
_svc_command_line() {
    if declare -F _comp_command_offset >/dev/null; then _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then _command_offset "$1"
    else
        compopt -o filenames 2>/dev/null
        if ((COMP_CWORD == $1)); then _svc_lines < <(compgen -c -- "$cur")
        else _svc_lines < <(compgen -f -- "$cur"); fi
    fi
}

_svc() {
    local cur=\${COMP_WORDS[COMP_CWORD]} option='' word index end=''
    local -a words=()
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=\${COMP_WORDS[index]}
        if [[ $word == -- && -z $end ]]; then end=$index option=''; continue; fi
        # bash takes --output=json for three words.
        if [[ $word == = ]]; then continue; fi
        if [[ -n $option ]]; then option=''; continue; fi
        case $word in
            ${formsWithValue(commands).join(' | ')}) option=$word ;;
            -*) ;;
            *) words+=("$word") ;;
        esac
    done
    if [[ $cur == = ]]; then cur=''; fi
    # A command has one word or two.
    local command=\${words[0]} at=\${#words[@]}
    case "$command \${words[1]}" in
        ${namesOfTwo(commands).map(quoted).join(' | ')}) command="$command \${words[1]}" at=$((at - 1)) ;;
    esac
    if [[ -n $end ]]; then
        case $command in
            ${namesWithCommandLine(commands).map(quoted).join(' | ')}) _svc_command_line $((end + 1)); return ;;
        esac
    fi
    if [[ -n $option ]]; then
        case "$command $option" in
            ${values.join('\n            ')}
        esac
    elif [[ $cur == -* ]]; then
        case $command in
            '') _svc_choices --help --version ;;
            ${options.join('\n            ')}
        esac
    else
        case "$command $at" in
            ' 0') _svc_choices ${firstWords(commands).join(' ')} ;;
            ${words.join('\n            ')}
        esac
    fi
}

complete -F _svc svc
`;
}

/** Returns the bash code that offers the possible values of a word or an option. */
function offer(completion: Completion): string {
  switch (completion.kind) {
    case 'file':
      return `_svc_files ${quoted(completion.ending)}`;
    case 'folder':
      return '_svc_folders';
    case 'choices':
      return `_svc_choices ${completion.choices.map((choice) => quoted(choice)).join(' ')}`;
    case 'component':
      return '_svc_components';
    case 'names':
      return `_svc_names ${completion.command}`;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
