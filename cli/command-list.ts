// CommandList: the commands of svc, in the order in which the help lists them. A name of two words is a sub-command.
// If the first two words are not a sub-command, the second word is an argument of the command that the first one names.
import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';

/** Commands by name. A command is loaded when it is needed, so that serving a module loads nothing of the others. */
const LOADERS: Readonly<Record<string, () => Command | Promise<Command>>> = {
  new: async () => (await import('./commands/new.ts')).newProject,
  build: async () => (await import('./commands/build.ts')).build,
  dev: async () => (await import('./commands/dev.ts')).dev,
  run: async () => (await import('./commands/run.ts')).run,
  web: async () => (await import('./commands/web.ts')).web,
  proxy: async () => (await import('./commands/proxy.ts')).proxy,
  up: async () => (await import('./commands/up.ts')).up,
  down: async () => (await import('./commands/down.ts')).down,
  'control-plane': async () => (await import('./commands/control-plane.ts')).controlPlane,
  gateway: async () => (await import('./commands/gateway.ts')).gateway,
  registry: async () => (await import('./commands/registry.ts')).registry,
  'webhook-service': async () => (await import('./commands/webhook-service.ts')).webhookService,
  'login-provider': async () => (await import('./commands/login-provider.ts')).loginProvider,
  console: async () => (await import('./commands/console.ts')).consoleCommand,
  token: async () => (await import('./commands/token.ts')).token,
  inspect: async () => (await import('./commands/inspect.ts')).inspect,
  configuration: () =>
    commandGroup('configuration', "check the values of a module's configuration", names),
  'configuration check': async () =>
    (await import('./commands/configuration-check.ts')).configurationCheck,
  'image build': async () => (await import('./commands/image-build.ts')).imageBuild,
  'image inspect': async () => (await import('./commands/image-inspect.ts')).imageInspect,
  'image push': async () => (await import('./commands/image-push.ts')).imagePush,
  'image list': async () => (await import('./commands/image-list.ts')).imageList,
  'image delete': async () => (await import('./commands/image-delete.ts')).imageDelete,
  journal: async () => (await import('./commands/journal.ts')).journal,
  'journal verify': async () => (await import('./commands/journal-verify.ts')).journalVerify,
  'journal export': async () => (await import('./commands/journal-export.ts')).journalExport,
  'journal import': async () => (await import('./commands/journal-import.ts')).journalImport,
  'journal backup': async () => (await import('./commands/journal-backup.ts')).journalBackup,
  'journal copy': async () => (await import('./commands/journal-copy.ts')).journalCopy,
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
  cluster: async () => (await import('./commands/cluster.ts')).cluster,
  entity: async () => (await import('./commands/entity.ts')).entity,
  verify: async () => (await import('./commands/verify.ts')).verify,
  'upgrade-check': async () => (await import('./commands/upgrade-check.ts')).upgradeCheck,
  auth: async () => (await import('./commands/identity.ts')).auth,
  'auth token': async () => (await import('./commands/auth-token.ts')).authToken,
  whoami: async () => (await import('./commands/identity.ts')).whoami,
  login: async () => (await import('./commands/login.ts')).login,
  logout: async () => (await import('./commands/logout.ts')).logout,
  context: () => commandGroup('context', 'choose the installation that commands speak to', names),
  'context list': async () => (await import('./commands/context.ts')).contextList,
  'context use': async () => (await import('./commands/context.ts')).contextUse,
  'context set': async () => (await import('./commands/context.ts')).contextSet,
  org: () => commandGroup('org', 'manage organizations and their members', names),
  'org list': async () => (await import('./commands/organizations.ts')).orgList,
  'org get': async () => (await import('./commands/organizations.ts')).orgGet,
  'org create': async () => (await import('./commands/organizations.ts')).orgCreate,
  'org rename': async () => (await import('./commands/organizations.ts')).orgRename,
  'org delete': async () => (await import('./commands/organizations.ts')).orgDelete,
  'org members': async () => (await import('./commands/organizations.ts')).orgMembers,
  'org invite': async () => (await import('./commands/organizations.ts')).orgInvite,
  'org remove': async () => (await import('./commands/organizations.ts')).orgRemove,
  'org role': async () => (await import('./commands/organizations.ts')).orgRole,
  'org withdraw': async () => (await import('./commands/organizations.ts')).orgWithdraw,
  'org repair': async () => (await import('./commands/organizations.ts')).orgRepair,
  'org disable': async () => (await import('./commands/organizations.ts')).orgDisable,
  'org enable': async () => (await import('./commands/organizations.ts')).orgEnable,
  project: () => commandGroup('project', 'manage projects', names),
  'project list': async () => (await import('./commands/projects.ts')).projectList,
  'project get': async () => (await import('./commands/projects.ts')).projectGet,
  'project create': async () => (await import('./commands/projects.ts')).projectCreate,
  'project rename': async () => (await import('./commands/projects.ts')).projectRename,
  'project delete': async () => (await import('./commands/projects.ts')).projectDelete,
  service: () => commandGroup('service', 'manage and watch services', names),
  'service list': async () => (await import('./commands/services.ts')).serviceList,
  'service get': async () => (await import('./commands/services.ts')).serviceGet,
  'service apply': async () => (await import('./commands/services.ts')).serviceApply,
  'service pause': async () => (await import('./commands/services.ts')).servicePause,
  'service resume': async () => (await import('./commands/services.ts')).serviceResume,
  'service restart': async () => (await import('./commands/services.ts')).serviceRestart,
  'service expose': async () => (await import('./commands/services.ts')).serviceExpose,
  'service unexpose': async () => (await import('./commands/services.ts')).serviceUnexpose,
  'service logs': async () => (await import('./commands/services.ts')).serviceLogs,
  'service history': async () => (await import('./commands/services.ts')).serviceHistory,
  'service delete': async () => (await import('./commands/services.ts')).serviceDelete,
  webhooks: () => commandGroup('webhooks', 'manage webhooks and their deliveries', names),
  'webhooks list': async () => (await import('./commands/webhooks.ts')).webhooksList,
  'webhooks get': async () => (await import('./commands/webhooks.ts')).webhooksGet,
  'webhooks create': async () => (await import('./commands/webhooks.ts')).webhooksCreate,
  'webhooks replace': async () => (await import('./commands/webhooks.ts')).webhooksReplace,
  'webhooks change': async () => (await import('./commands/webhooks.ts')).webhooksChange,
  'webhooks delete': async () => (await import('./commands/webhooks.ts')).webhooksDelete,
  'webhooks rotate-secret': async () => (await import('./commands/webhooks.ts')).webhooksRotate,
  'webhooks deliveries': async () =>
    (await import('./commands/webhooks-deliveries.ts')).webhooksDeliveries,
  'webhooks delivery': async () =>
    (await import('./commands/webhooks-deliveries.ts')).webhooksDelivery,
  'webhooks retry': async () => (await import('./commands/webhooks-deliveries.ts')).webhooksRetry,
  'webhooks replay': async () => (await import('./commands/webhooks-replay.ts')).webhooksReplay,
  'webhooks listen': async () => (await import('./commands/webhooks-listen.ts')).webhooksListen,
  'webhooks report': async () => (await import('./commands/webhooks-deliveries.ts')).webhooksReport,
  'webhooks remove-tenant': async () =>
    (await import('./commands/webhooks-deliveries.ts')).webhooksRemoveTenant,
  deploy: async () => (await import('./commands/deploy.ts')).deploy,
  explain: async () => (await import('./commands/explain.ts')).explain,
  completion: async () => (await import('./commands/completion.ts')).completion(loadAllCommands),
  version: async () => (await import('./commands/version.ts')).version,
};

export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS);

function names(): readonly string[] {
  return COMMAND_NAMES;
}

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
  return Promise.all(Object.values(LOADERS).map(async (load) => load()));
}
