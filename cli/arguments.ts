// Reads the words after a command: node's own parser, with messages that say what to do.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UsageError } from './command.ts';
import { closest } from './suggestion.ts';

/** Options and exactly as many other words as `words` names. Throws UsageError. */
export function readArguments<const T extends ParseArgsOptionsConfig>(
  command: string,
  args: readonly string[],
  options: T,
  words: readonly string[],
) {
  const parsed = parse(command, args, options);
  if (parsed.positionals.length !== words.length)
    throw new UsageError(
      `${command} takes ${words.join(' ')}, and found ` +
        (parsed.positionals.length === 0 ? 'nothing' : parsed.positionals.join(' ')) +
        `. svc ${command} --help says more.`,
    );
  return parsed;
}

function parse<const T extends ParseArgsOptionsConfig>(
  command: string,
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const unknown = /^Unknown option '--?([^']*)'/.exec(message)?.[1];
    if (unknown === undefined) throw new UsageError(`${message}. svc ${command} --help says more.`);
    const suggestion = closest(unknown, Object.keys(options));
    throw new UsageError(
      `${command} has no option '--${unknown}'.` +
        (suggestion === undefined ? '' : ` Did you mean '--${suggestion}'?`) +
        ` svc ${command} --help lists them.`,
    );
  }
}
