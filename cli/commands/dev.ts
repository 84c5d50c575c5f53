// svc dev: compiles and serves a project, again after each change, until the command is stopped.
import { resolve } from 'node:path';
import { command, EXIT_CODE, type Command } from '../command.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';
import { askedToStop } from '../asked-to-stop.ts';

export const dev: Command = command(
  {
    name: 'dev',
    summary: 'serve a project while you work on it',
    about: `Compiles a project and serves it, and does so again whenever a source changes, on the same port
and with the same journal. Errors are printed with file and line. If a module does not compile or
start, the one before it stays in service. Stop it with ctrl-c or SIGTERM; only the journal is left.
With --process-command nothing is compiled: the command is started in DIR, and again whenever a file
there changes.`,
    words: [{ name: 'DIR', optional: true, completes: { kind: 'folder' } }],
    options: {
      port: SERVICE_OPTIONS.port,
      host: SERVICE_OPTIONS.host,
      cors: SERVICE_OPTIONS.cors,
      data: { ...SERVICE_OPTIONS.data, otherwise: 'DIR/.svc/NAME' },
      configuration: SERVICE_OPTIONS.configuration,
      'configuration-folder': SERVICE_OPTIONS['configuration-folder'],
      configure: SERVICE_OPTIONS.configure,
      name: { ...SERVICE_OPTIONS.name, otherwise: "package.json's, or the folder's" },
      'process-command': SERVICE_OPTIONS['process-command'],
      'development-tokens': SERVICE_OPTIONS['development-tokens'],
      set: SERVICE_OPTIONS.set,
    },
    notes: `DIR is a folder with assembly/index.ts or index.ts, by default this folder; you can name another
file instead. The module is compiled without optimization, which is faster and keeps source
locations exact: it is larger, slower and uses more fuel than a module of svc build.
Every setting of svc run can be given by the environment too: svc.http.port is SVC_HTTP_PORT.`,
    examples: [
      'svc dev',
      'svc dev my-service --port 0',
      'svc dev --cors http://localhost:5173',
      "svc dev --process-command 'python3 main.py'",
    ],
  },
  async ([dir = '.'], { port, host, cors, data, name, set, ...others }) => {
    const { 'development-tokens': developed, ...configured } = others;
    const { 'process-command': processCommand, ...configuration } = configured;
    const serviceArguments = (ofProject: string): string[] => [
      `--name=${name ?? ofProject}`,
      `--port=${port}`,
      `--host=${host}`,
      ...(cors === undefined ? [] : [`--cors=${cors}`]),
      ...(data === undefined ? [] : [`--data=${resolve(data)}`]),
      ...configurationArguments(configuration),
      ...(developed ? ['--development-tokens'] : []),
      ...set.map((setting) => `--set=${setting}`),
    ];
    if (processCommand !== undefined) {
      const [{ developProcess }, { projectName }] = await Promise.all([
        import('../dev/dev-process.ts'),
        import('../project-name.ts'),
      ]);
      const folder = resolve(dir);
      return developProcess(folder, processCommand, serviceArguments(projectName(folder)));
    }
    const stop = askedToStop(process.env['npm_lifecycle_event']);
    const { findProject } = await import('../dev/dev-project.ts');
    const found = findProject(dir);
    const project = name === undefined ? found : { ...found, name };
    const args = serviceArguments(project.name);
    const { loadCompiler } = await import('../compiler.ts');
    await loadCompiler();
    const { DevSession } = await import('../dev/dev-session.ts');
    const session = new DevSession({ project, args, env: environment() });
    void stop.again.then(() => session.kill());
    await session.run(stop.asked);
    // Ends the process without waiting for a running build.
    return process.exit(EXIT_CODE.ok);
  },
);

/** Returns the arguments of the service that say where its configuration is. Paths are those of the user's folder. */
function configurationArguments({
  configuration,
  'configuration-folder': folder,
  configure,
}: {
  readonly configuration: string | undefined;
  readonly 'configuration-folder': string | undefined;
  readonly configure: readonly string[];
}): string[] {
  return [
    ...(configuration === undefined ? [] : [`--configuration=${resolve(configuration)}`]),
    ...(folder === undefined ? [] : [`--configuration-folder=${resolve(folder)}`]),
    ...configure.map((value) => `--configure=${value}`),
  ];
}

/**
 * Returns the environment of the service, without two variables that the shell may have: SVC_DEPLOYED makes a service
 * a deployed instance, and SVC_PARENT_PID names the process whose end stops a service.
 */
function environment(): NodeJS.ProcessEnv {
  const { SVC_DEPLOYED: _deployed, SVC_PARENT_PID: _parent, ...env } = process.env;
  return env;
}
