// svc web: runs a web server of any language as a service of this machine, until the command is stopped.
import { join } from 'node:path';
import {
  descriptorProblems,
  type Mount,
  WEB_PROTOCOL,
  type WebServiceDescriptor,
} from '@svc/client';
import { askedToStop } from '../asked-to-stop.ts';
import { command, CommandFailure, EXIT_CODE, type Command } from '../command.ts';
import { portOption } from '../port-option.ts';
import { projectName } from '../project-name.ts';
import { runningFolderSetting } from '../running-folder.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';
import { UsageError } from '../usage-error.ts';
import { version } from '../version.ts';

/** End of the folder in which svc caches its own compiled sources. */
const OWN_CACHE = join('.cache', 'svc');

export const web: Command = command(
  {
    name: 'web',
    summary: 'serve a web server of any language, as in a pod',
    about: `Runs a program that serves HTTP/1.1, in any language, and forwards requests to it with the headers
that it gets in a pod. The program listens on 127.0.0.1 and the port that the variable PORT names,
and calls other services of this machine at $SVC_SERVICES_URL/SERVICE/PATH. It is started again when
it ends. Stop it with ctrl-c or SIGTERM.`,
    words: [],
    behind: 'COMMAND [ARGUMENT ...]',
    options: {
      port: { ...SERVICE_OPTIONS.port, help: 'port of 127.0.0.1; 0 takes a free one' },
      name: { ...SERVICE_OPTIONS.name, otherwise: 'that of package.json, or the folder' },
      mount: {
        type: 'string',
        multiple: true,
        value: '/PATH=SERVICE',
        help: `requests for the path and all below go to another service of
this machine; may be repeated`,
      },
      watch: {
        type: 'string',
        multiple: true,
        value: '[PATH]',
        bare: '.',
        help: `start the command again when a file changes there: a file or a
folder, without a value this folder; may be repeated`,
        completes: { kind: 'folder' },
      },
      'process-port': {
        type: 'string',
        value: 'PORT',
        help: 'port on which the program listens, for PORT',
        otherwise: 'a free one',
      },
      log: SERVICE_OPTIONS.log,
    },
    notes: `The command runs without a shell: write sh -c 'LINE' for a line of a shell. Its standard input is
empty. Changes in node_modules, build, dist, target and hidden files do not start it again.
Output of the program and the log of svc go to stderr; once the program listens, the address of the
service goes to stdout.`,
    examples: [
      'svc web -- node server.js',
      'svc web --name shop --mount /cart=cart --watch src -- python3 server.py',
    ],
  },
  async (words, options) => {
    const name = options.name ?? projectName(process.cwd());
    const mounts = options.mount.map(mountOf);
    checkDeclared(name, mounts, options.mount);
    const port = portOption('web', '--port', options.port);
    const processPort = options['process-port'];
    const stop = askedToStop(process.env['npm_lifecycle_event']);
    const { WebService, openLocalForwarder } = await loadWebHosting();
    const service = await WebService.start({
      name,
      command: words,
      cwd: process.cwd(),
      env: environment(),
      port,
      processPort:
        processPort === undefined ? undefined : portOption('web', '--process-port', processPort, 1),
      mounts,
      watched: options.watch,
      logFormat: logFormat(options.log),
      runningFolder: runningFolderSetting(process.env['SVC_RUNNING_DIR']),
      runtimeVersion: version,
      openForwarder: openLocalForwarder,
    });
    void service.listening.then(() => process.stdout.write(`${service.url}\n`));
    void stop.again.then(() => service.kill());
    await stop.asked;
    await service.stop();
    return EXIT_CODE.ok;
  },
);

/** Loads the package of web hosting. Throws CommandFailure if it is not installed. */
async function loadWebHosting() {
  try {
    const [service, forwarder] = await Promise.all([
      import('@svc/proxy/web'),
      import('@svc/proxy/local-forwarder'),
    ]);
    return { ...service, ...forwarder };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CommandFailure(
      'SVC_COMMAND_NOT_STARTED',
      'Web hosting is not installed here, so nothing was started. Install the package @svc/proxy of the version that svc has.',
      { cause: error },
    );
  }
}

/** Returns the environment of svc without the variable by which svc caches its own compiled sources (cli/bin/svc.js). */
function environment(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: cache, ...env } = process.env;
  return cache?.endsWith(OWN_CACHE) === true ? env : process.env;
}

function logFormat(chosen: string | undefined): 'text' | 'json' {
  if (chosen === undefined) return process.stderr.isTTY ? 'text' : 'json';
  return chosen === 'json' ? 'json' : 'text';
}

/** Parses `/PATH=SERVICE`. Throws UsageError. */
function mountOf(text: string): Mount {
  const at = text.lastIndexOf('=');
  if (at < 0)
    throw new UsageError(
      `web takes /PATH=SERVICE as --mount, and found '${text}'. svc web --help says more.`,
    );
  return { path: text.slice(0, at), service: text.slice(at + 1) };
}

/** Checks name and mounts as the platform does when the service is deployed. Throws UsageError with all problems. */
function checkDeclared(name: string, mounts: readonly Mount[], given: readonly string[]): void {
  const descriptor: WebServiceDescriptor = {
    name,
    image: 'local',
    hosting: 'process',
    protocol: WEB_PROTOCOL,
    mounts,
  };
  const problems = descriptorProblems(descriptor).map(({ path, reason }) => {
    const [, field, index, part] = path.split('/');
    if (field !== 'mounts') return `--name ${reason}`;
    return `--mount ${given[Number(index)] ?? ''}: ${part === undefined ? '' : `the ${part} `}${reason}`;
  });
  if (problems.length > 0) throw new UsageError(`web cannot run this: ${problems.join('; ')}.`);
}
