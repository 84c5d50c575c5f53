// FishScript: completion for fish.
import type { CommandDescription, Completion } from '../description.ts';
import {
  formsWithValue,
  namesOfTwo,
  namesWithCommandLine,
  shortHelp,
  subcommandsBeside,
} from './option-words.ts';

export function fishScript(commands: readonly CommandDescription[]): string {
  const lines = commands.flatMap((command) => {
    const { name, summary, options, words } = command;
    const within = `__svc_in ${quotedWithin(name)}`;
    const own = subcommandsBeside(command, commands);
    return [
      ...(name.includes(' ')
        ? []
        : [`complete -c svc -n '__svc_at 0' -a ${name} -d ${quoted(summary)}`]),
      ...Object.entries(options).map(([option, described]) =>
        [
          `complete -c svc -n '${within}'`,
          ...(described.short === undefined ? [] : [`-s ${described.short}`]),
          `-l ${option}`,
          ...(described.type === 'string' ? [`-x${offer(described.completes)}`] : []),
          `-d ${quoted(shortHelp(described))}`,
        ].join(' '),
      ),
      ...words.flatMap(({ completes }, index) =>
        completes === undefined
          ? []
          : [`complete -c svc -n '${within}; and __svc_at ${index + 1}'${offer(completes)}`],
      ),
      ...own.map((word) => {
        const subcommand = commands.find((other) => other.name === `${name} ${word}`)!;
        return `complete -c svc -n '${within}; and __svc_at 1' -a ${word} -d ${quoted(subcommand.summary)}`;
      }),
    ];
  });
  return `# fish completion of svc; svc completion --help says where it goes.

# The words before the one that is typed, without options and their values.
function __svc_words
    set -l value no
    for word in (commandline -opc)[2..-1]
        if test $value = yes -a "$word" != --
            set value no
            continue
        end
        switch $word
            case ${formsWithValue(commands).join(' ')}
                set value yes
            case '-*'
            case '*'
                printf '%s\\n' $word
        end
    end
end

# The words, of which those that are a command of two are one.
function __svc_joined
    set -l words (__svc_words)
    switch "$words[1] $words[2]"
        case ${namesOfTwo(commands).map(quoted).join(' ')}
            set words[2] "$words[1] $words[2]"
            set -e words[1]
    end
    if test (count $words) -gt 0
        printf '%s\\n' $words
    end
end

function __svc_at
    test (count (__svc_joined)) -eq $argv[1]
end

function __svc_in
    set -l words (__svc_joined)
    test "$words[1]" = $argv[1]
end

# A name that a shell could take for more than a name is not offered.
function __svc_components
    set -l words (__svc_joined)
    set -l dir (string replace -r '^~' $HOME -- $words[2])
    svc journal $dir -o names 2>/dev/null | string match -r '^[A-Za-z0-9._-]+$'
end

# The names that a command of svc prints, such as the ids of projects.
function __svc_names
    svc $argv -o names 2>/dev/null | string match -r '^[A-Za-z0-9._-]+$'
end

# Whether the word belongs to a command line behind '--'.
function __svc_in_command_line
    set -l words (__svc_joined)
    contains -- "$words[1]" ${namesWithCommandLine(commands).map(quoted).join(' ')}
    and contains -- -- (commandline -opc)
end

# Completes the command line behind '--' as the shell completes any other.
function __svc_command_line
    set -l words (commandline -opc)
    set -l end (contains -i -- -- $words)
    set -e words[1..$end]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c svc -f
complete -c svc -n __svc_in_command_line -a '(__svc_command_line)'
complete -c svc -n '__svc_at 0' -s h -l help -d 'say how it is used'
complete -c svc -n '__svc_at 0' -s v -l version -d 'print the version'
${lines.join('\n')}
`;
}

/** Returns the options of `complete` that offer the possible values; empty if there is nothing to offer. */
function offer(completion: Completion | undefined): string {
  switch (completion?.kind) {
    case 'file':
      return ` -k -a '(__fish_complete_suffix ${completion.ending})'`;
    case 'folder':
      return ` -a '(__fish_complete_directories)'`;
    case 'choices':
      return ` -a ${quoted(completion.choices.join(' '))}`;
    case 'component':
      return ` -a '(__svc_components)'`;
    case 'names':
      return ` -a '(__svc_names ${completion.command})'`;
    case undefined:
      return '';
  }
}

/** Quotes a name within a condition, which is quoted itself. */
function quotedWithin(name: string): string {
  return name.includes(' ') ? `"${name}"` : name;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, (character) => `\\${character}`)}'`;
}
