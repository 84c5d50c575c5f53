// Completion for zsh.
import type { CommandDescription, Completion, OptionDescription } from '../description.ts';
import { formsOf, shortHelp } from './option-words.ts';

export function zshScript(commands: readonly CommandDescription[]): string {
  const summaries = commands.map(
    ({ name, summary }) => `        ${quoted(`${name}:${escaped(summary)}`)}`,
  );
  const cases = commands.map(({ name, options, words }) => {
    const specs = [
      ...Object.entries(options).flatMap(([option, described]) => optionSpecs(option, described)),
      ...words.map(
        (word, index) =>
          `${index + 1}:${word.optional ? ':' : ''}${escaped(word.name)}:${action(word.completes)}`,
      ),
    ];
    return `        ${name})
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

_svc() {
  local curcontext="$curcontext" state state_descr
  local -a line commands
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[say how it is used]' '(- *)'{-v,--version}'[print the version]' \\
    '1: :->command' '*:: :->arguments'
  case $state in
    command)
      commands=(
${summaries.join('\n')}
      )
      _describe -t commands 'command' commands
      ;;
    arguments)
      case $words[1] in
${cases.join('\n')}
      esac
      ;;
  esac
}

if [ "$funcstack[1]" = _svc ]; then _svc "$@"; else compdef _svc svc; fi
`;
}

/** One for each form; a form that was given is offered no more, unless it may be repeated. */
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
    case undefined:
      return ' ';
  }
}

/** Within a specification, these have a meaning. */
function escaped(text: string): string {
  return text.replaceAll(/[\\:[\]]/g, (character) => `\\${character}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
