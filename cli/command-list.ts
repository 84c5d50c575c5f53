// CommandList: the commands of svc, in the order in which the help lists them. A name of two words is a sub-command.
// If the first two words are not a sub-command, the second word is an argument of the command that the first one names.
import type { Command } from './command.ts';

/** Commands by name. A command is loaded when it is needed, so that serving a module loads nothing of the others. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  new: async () => (await import('./commands/new.ts')).newProject,
  build: async () => (await import('./commands/build.ts')).build,
  dev: async () => (await import('./commands/dev.ts')).dev,
  run: async () => (await import('./commands/run.ts')).run,
  web: async () => (await import('./commands/web.ts')).web,
  proxy: async () => (await import('./commands/proxy.ts')).proxy,
  'control-plane': async () => (await import('./commands/control-plane.ts')).controlPlane,
  'login-provider': async () => (await import('./commands/login-provider.ts')).loginProvider,
  console: async () => (await import('./commands/console.ts')).consoleCommand,
  inspect: async () => (await import('./commands/inspect.ts')).inspect,
  'image build': async () => (await import('./commands/image-build.ts')).imageBuild,
  'image inspect': async () => (await import('./commands/image-inspect.ts')).imageInspect,
  journal: async () => (await import('./commands/journal.ts')).journal,
  'journal verify': async () => (await import('./commands/journal-verify.ts')).journalVerify,
  'journal export': async () => (await import('./commands/journal-export.ts')).journalExport,
  'journal import': async () => (await import('./commands/journal-import.ts')).journalImport,
  'journal backup': async () => (await import('./commands/journal-backup.ts')).journalBackup,
  timers: async () => (await import('./commands/timers.ts')).timers,
  'timers cancel': async () => (await import('./commands/timers-cancel.ts')).timersCancel,
  'timers retry': async () => (await import('./commands/timers-retry.ts')).timersRetry,
  views: async () => (await import('./commands/views.ts')).views,
  'views prepare': async () => (await import('./commands/views-prepare.ts')).viewsPrepare,
  'views query': async () => (await import('./commands/views-query.ts')).viewsQuery,
  'views rebuild': async () => (await import('./commands/views-rebuild.ts')).viewsRebuild,
  'views skip': async () => (await import('./commands/views-skip.ts')).viewsSkip,
  consumers: async () => (await import('./commands/consumers.ts')).consumers,
  'consumers retry': async () => (await import('./commands/consumers-retry.ts')).consumersRetry,
  'consumers skip': async () => (await import('./commands/consumers-skip.ts')).consumersSkip,
  entity: async () => (await import('./commands/entity.ts')).entity,
  verify: async () => (await import('./commands/verify.ts')).verify,
  'upgrade-check': async () => (await import('./commands/upgrade-check.ts')).upgradeCheck,
  explain: async () => (await import('./commands/explain.ts')).explain,
  completion: async () => (await import('./commands/completion.ts')).completion(loadAllCommands),
  version: async () => (await import('./commands/version.ts')).version,
};

export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS);

/**
 * Finds the command at the beginning of the words, and the words after its name. Returns undefined if there is none.
 */
export async function findCommand(
  words: readonly string[],
): Promise<{ readonly command: Command; readonly args: readonly string[] } | undefined> {
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ');
    if (words.length >= count && Object.hasOwn(LOADERS, name))
      return { command: await LOADERS[name]!(), args: words.slice(count) };
  }
  return undefined;
}

export async function loadAllCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(LOADERS).map((load) => load()));
}
