// Help: the output of `--help`, written from the descriptions of the commands.
import {
  subcommandWords,
  usageOf,
  type CommandDescription,
  type OptionDescription,
} from './description.ts';

/** Returns the output of `svc NAME --help`. `names`: names of all commands. */
export function helpOf(description: CommandDescription, names: readonly string[]): string {
  const { name: command, about, options, notes, examples } = description;
  const subcommands = subcommandWords(command, names);
  const rows = Object.entries(options).map(
    ([name, option]) => [optionText(name, option), option] as const,
  );
  const width = Math.max(0, ...rows.map(([text]) => text.length));
  return [
    about,
    `Usage: ${usageOf(description)}`,
    ...(rows.length === 0
      ? []
      : [`Options:\n${rows.map(([text, option]) => optionLines(text, option, width)).join('\n')}`]),
    ...(notes === undefined ? [] : [notes]),
    ...(subcommands.length === 0
      ? []
      : [
          `Commands of its own:\n${subcommands.map((word) => `svc ${command} ${word}`).join(', ')}.\n` +
            `A folder of such a name is written ./${subcommands[0]}.`,
        ]),
    `${examples.length === 1 ? 'Example' : 'Examples'}:\n${indented(examples)}`,
  ]
    .map((part) => `${part}\n`)
    .join('\n');
}

/** Returns the output of `svc NAME --help` for a word that only begins commands. `all`: descriptions of all commands. */
export function groupHelpOf(
  { name, about }: CommandDescription,
  all: readonly CommandDescription[],
): string {
  const commands = all.filter((other) => other.name.startsWith(`${name} `));
  const width = Math.max(...commands.map((command) => command.name.length));
  return `${about}

Usage: svc ${name} COMMAND [ARGUMENT ...]

Commands:
${indented(commands.map((command) => `${command.name.padEnd(width)}  ${command.summary}`))}

Example:
  svc ${name} ${commands[0]!.name.slice(name.length + 1)} --help
`;
}

/** Returns the output of `svc --help`, without the commands of groups, which have a help of their own. */
export function overviewOf(all: readonly CommandDescription[]): string {
  const groups = all.filter(({ isGroup }) => isGroup === true).map(({ name }) => name);
  const commands = all.filter(({ name }) => !groups.some((group) => name.startsWith(`${group} `)));
  const width = Math.max(...commands.map(({ name }) => name.length));
  return `svc runs sandboxed WebAssembly components with durable state.

Usage: svc COMMAND [ARGUMENT ...]

Commands:
${indented(commands.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}`))}

Examples:
  svc new my-service
  svc build assembly/index.ts -o my-service.wasm
  svc run my-service.wasm
  svc journal .svc/my-service

  svc COMMAND --help says more about one of them.
`;
}

function optionText(name: string, { short, value }: OptionDescription): string {
  const shortText = short === undefined ? '    ' : `-${short}, `;
  return `${shortText}--${name}${value === undefined ? '' : ` ${value}`}`;
}

function optionLines(text: string, option: OptionDescription, width: number): string {
  const fallback = option.default ?? option.otherwise;
  const help = option.help + (fallback === undefined ? '' : ` (default: ${fallback})`);
  return help
    .split('\n')
    .map((line, index) => `  ${(index === 0 ? text : '').padEnd(width)}   ${line}`)
    .join('\n');
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}
