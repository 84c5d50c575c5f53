// ZshScript: completion for zsh.
import type { CommandDescription, Completion, OptionDescription } from '../description.ts';
import {
  formsOf,
  namesOfTwo,
  namesWithCommandLine,
  shortHelp,
  subcommandsBeside,
} from './option-words.ts';

export function zshScript(commands: readonly CommandDescription[]): string {
  const summaries = commands
    .filter(({ name }) => !name.includes(' '))
    .map(({ name, summary }) => `        ${quoted(`${name}:${escaped(summary)}`)}`);
  const withOwn = commands.filter((command) => subcommandsBeside(command, commands).length > 0);
  const first = withOwn.map((command) => firstWord(command, commands));
  const cases = commands.map((command) => {
    const { name, options, words } = command;
    const specs = [
      ...Object.entries(options).flatMap(([option, described]) => optionSpecs(option, described)),
      ...words.map(
        (word, index) =>
          `${index + 1}:${word.optional ? ':' : ''}${escaped(word.name)}:${
            index === 0 && withOwn.includes(command) ? firstWordOf(name) : action(word.completes)
          }`,
      ),
    ];
    return `        ${quoted(name)})
          _arguments -s ${specs.map((spec) => quoted(spec)).join(' \\\n            ')}
          ;;`;
  });
  return `#compdef svc
# zsh completion of svc; svc completion --help says where it goes.

# A name that a shell could take for more than a name is not offered.
_svc_components() {
  local -a components
  components=(\${(f)"$(svc journal "\${\${(Q)line[1]}/#\\~/$HOME}" -o names 2>/dev/null |
    grep -E '^[A-Za-z0-9._-]+$')"})
  compadd -a components
}

# The names that a command of svc prints, such as the ids of projects.
_svc_names() {
  local -a names
  names=(\${(f)"$(svc "$@" -o names 2>/dev/null | grep -E '^[A-Za-z0-9._-]+$')"})
  compadd -a names
}

${first.join('')}_svc() {
  local curcontext="$curcontext" state state_descr
  local -a line offered
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[say how it is used]' '(- *)'{-v,--version}'[print the version]' \\
    '1: :->command' '*:: :->arguments'
  case $state in
    command)
      offered=(
${summaries.join('\n')}
      )
      _describe -t commands 'command' offered
      ;;
    arguments)
      local end=\${words[(i)--]}
      if ((end < CURRENT)); then
        case $words[1] in
          ${namesWithCommandLine(commands).map(quoted).join('|')})
            # The command line behind it is completed as any other.
            words=("\${(@)words[end+1,-1]}")
            ((CURRENT -= end))
            _normal
            return
            ;;
        esac
      fi
      # A command has one word or two.
      case "$words[1] $words[2]" in
        ${namesOfTwo(commands).map(quoted).join('|')})
          if ((CURRENT > 2)); then
            words=("$words[1] $words[2]" "\${(@)words[3,-1]}")
            ((CURRENT--))
          fi
          ;;
      esac
      case $words[1] in
${cases.join('\n')}
      esac
      ;;
  esac
}

if [ "$funcstack[1]" = _svc ]; then _svc "$@"; else compdef _svc svc; fi
`;
}

/** Returns a shell function that completes the first word of a command with its values and its sub-commands. */
function firstWord(command: CommandDescription, commands: readonly CommandDescription[]): string {
  const own = subcommandsBeside(command, commands)
    .map((word) => {
      const { summary } = commands.find(({ name }) => name === `${command.name} ${word}`)!;
      return `    ${quoted(`${word}:${escaped(summary)}`)}`;
    })
    .join('\n');
  return `${firstWordOf(command.name)}() {
  local -a subcommands
  subcommands=(
${own}
  )
  _describe -t commands 'command' subcommands
  ${action(command.words[0]?.completes)}
}

`;
}

/** Returns the name of the shell function that `firstWord` writes for a command. */
function firstWordOf(name: string): string {
  return `_svc_first_of_${name}`;
}

/**
 * Returns one specification for `_arguments` for each spelling of an option. An option that was given is not offered
 * again, unless it may be repeated.
 */
function optionSpecs(name: string, option: OptionDescription): string[] {
  const forms = formsOf(name, option);
  const before = option.multiple === true ? '*' : `(${forms.join(' ')})`;
  const value =
    option.type === 'string' ? `:${escaped(option.value ?? name)}:${action(option.completes)}` : '';
  return forms.map((form) => {
    const equals = option.type === 'string' && form.startsWith('--') ? '=' : '';
    return `${before}${form}${equals}[${escaped(shortHelp(option))}]${value}`;
  });
}

/** Returns the action of `_arguments` that offers the possible values; a space if there is nothing to offer. */
function action(completion: Completion | undefined): string {
  switch (completion?.kind) {
    case 'file':
      return `_files -g "*${completion.ending}"`;
    case 'folder':
      return '_directories';
    case 'choices':
      return `(${completion.choices.join(' ')})`;
    case 'component':
      return '_svc_components';
    case 'names':
      // The blank before it keeps _arguments from adding options of its own.
      return ` _svc_names ${completion.command}`;
    case undefined:
      return ' ';
  }
}

/** Escapes the characters that have a meaning within a specification. */
function escaped(text: string): string {
  return text.replaceAll(/[\\:[\]]/g, (character) => `\\${character}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
