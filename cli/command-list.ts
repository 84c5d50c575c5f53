// The commands of svc, in the order in which a person meets them.
import type { Command } from './command.ts';

/** A command is loaded when it is asked for: what serves a module loads nothing of the others. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  new: async () => (await import('./commands/new.ts')).newProject,
  build: async () => (await import('./commands/build.ts')).build,
  run: async () => (await import('./commands/run.ts')).run,
  inspect: async () => (await import('./commands/inspect.ts')).inspect,
  journal: async () => (await import('./commands/journal.ts')).journal,
  explain: async () => (await import('./commands/explain.ts')).explain,
  completion: async () => (await import('./commands/completion.ts')).completion(loadAllCommands),
  version: async () => (await import('./commands/version.ts')).version,
};

export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS);

/** Undefined: there is no such command. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(LOADERS, name) ? LOADERS[name]!() : undefined;
}

export async function loadAllCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(LOADERS).map((load) => load()));
}
