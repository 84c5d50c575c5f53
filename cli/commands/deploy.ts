// svc deploy: builds the module of a project, puts its image where the installation finds it, applies the descriptor, and waits until
// that generation serves.
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isProjectId, type ServiceDescriptor, type ServiceStatus } from '@svc/client';
import { printable, printableJson } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { moduleToPack, type NamedModule } from '../module-to-pack.ts';
import { isRecord } from '../platform/contexts.ts';
import { deployed } from '../platform/deployment.ts';
import { imageStoreOf } from '../platform/image-store.ts';
import { Platform } from '../platform/platform.ts';
import { PROJECT_OPTION, projectOf } from '../platform/project-option.ts';
import { checkedDescriptor, invalidFile, readServiceValue } from '../platform/service-file.ts';
import type { Target } from '../platform/target.ts';
import { printData } from '../terminal.ts';
import { readDuration } from '../time-word.ts';
import { UsageError } from '../usage-error.ts';

const SERVICE_FILE = 'service.yaml';
const TIMEOUT_MAX_MS = 24 * 60 * 60 * 1000;

export const deploy = command(
  {
    name: 'deploy',
    summary: 'build a project and run it on an installation',
    about: `Compiles the module of a project, makes its image, puts the image where the installation finds
it, applies the descriptor, and waits until this generation is ready. DIR is the project, or the
file of a module that is compiled already; otherwise the working folder.`,
    words: [{ name: 'DIR', optional: true, completes: { kind: 'folder' } }],
    options: {
      file: {
        type: 'string',
        short: 'f',
        value: 'FILE.yaml',
        help: `descriptor as YAML or JSON, of which everything may be missing: the
name is that of the project, hosting, protocol and runtime are
those of the module. One with an image is applied as it is, and
nothing is built`,
        otherwise: 'service.yaml of the project, if there is one',
        completes: { kind: 'file', ending: '.yaml' },
      },
      project: PROJECT_OPTION,
      detach: { type: 'boolean', help: 'do not wait' },
      timeout: {
        type: 'string',
        value: 'DURATION',
        help: 'how long to wait, such as 90s, 10m or 1h',
        default: '10m',
      },
      output: OUTPUT_OPTION,
    },
    notes: `Exits with 1 when the deployment failed, after the last lines of its newest instance, and with 4
when it is not finished after the time.`,
    examples: ['svc deploy', 'svc deploy shopping-cart --project shop', 'svc deploy --detach'],
  },
  async ([dir = '.'], { file, project, detach, timeout, output }) => {
    const timeoutMs = timeoutOf(timeout);
    const platform = Platform.open();
    const projectId = projectIdOf({ project }, platform.target);
    // A login that has ended and a project that is not there are noticed before anything is built.
    await platform.call('getProject', { projectId });
    const descriptor = await descriptorOf(dir, file, { projectId, platform });
    const { name } = descriptor;
    const applied = await platform.call('applyService', { projectId, name, body: descriptor });
    say(`Applied ${name} in the project ${projectId}: generation ${applied.generation}.`);
    const status = detach ? applied : await deployed(platform, applied, timeoutMs);
    if (output === 'json') await printData(`${printableJson(JSON.stringify(status))}\n`);
    else if (!detach) say(endOf(status));
    return EXIT_CODE.ok;
  },
);

function timeoutOf(text: string): number {
  const timeoutMs = readDuration('deploy', '--timeout', text);
  if (timeoutMs >= 1000 && timeoutMs <= TIMEOUT_MAX_MS) return timeoutMs;
  throw new UsageError(`deploy takes 1s to 24h as --timeout, and found '${text}'.`);
}

/** Returns the project, of which a folder and a repository of images are made. Throws UsageError. */
function projectIdOf(options: { readonly project: string | undefined }, target: Target): string {
  const projectId = projectOf('deploy', options, target);
  if (isProjectId(projectId)) return projectId;
  throw new UsageError(`deploy takes the id of a project, and found '${projectId}'.`);
}

interface Destination {
  readonly projectId: string;
  readonly platform: Platform;
}

/** Returns the descriptor to apply, once its image is stored. */
async function descriptorOf(
  dir: string,
  named: string | undefined,
  destination: Destination,
): Promise<ServiceDescriptor> {
  const isFile = statSync(dir, { throwIfNoEntry: false })?.isFile() === true;
  const usual = join(isFile ? dirname(dir) : dir, SERVICE_FILE);
  const path = named ?? (existsSync(usual) ? usual : undefined);
  const given = path === undefined ? {} : ((await readServiceValue(path)) ?? {});
  const where = path ?? `the descriptor of ${dir}`;
  if (!isRecord(given) || given['image'] !== undefined) return checkedDescriptor(given, where);
  const { hosting = 'wasm' } = given;
  if (hosting !== 'wasm')
    throw invalidFile(
      `${where} has another hosting than wasm and no image. svc deploy makes images of modules: push the image of the program ` +
        'yourself, and name it as image.',
    );
  return await packed(given, where, await moduleToPack(dir), destination);
}

/** Makes and stores the image of a module. Returns the descriptor with what the module and the image say. */
async function packed(
  given: Readonly<Record<string, unknown>>,
  where: string,
  { name, packed: module }: NamedModule,
  { projectId, platform }: Destination,
): Promise<ServiceDescriptor> {
  const { protocol, runtime } = module;
  if (given['protocol'] !== undefined && given['protocol'] !== protocol)
    throw invalidFile(
      `${where} declares another protocol than ${protocol}, which the module speaks. Remove protocol from it: svc deploy knows it.`,
    );
  const { moduleImage } = await import('@svc/oci/module-image');
  const image = moduleImage(module);
  const store = imageStoreOf(platform);
  const service = {
    project: projectId,
    service: typeof given['name'] === 'string' ? given['name'] : name,
  };
  const reference = store.referenceOf(image, service);
  const defaults = { name, hosting: 'wasm', protocol, runtime };
  const descriptor = checkedDescriptor({ ...defaults, ...given, image: reference }, where);
  const isNew = await store.store(image, service);
  say(`${isNew ? 'Stored' : 'Found'} the image ${reference}.`);
  return descriptor;
}

function endOf({ name, lifecycle, hostname }: ServiceStatus): string {
  if (lifecycle === 'paused')
    return `${name} is paused, so nothing runs. Start it with svc service resume ${name}.`;
  return hostname === undefined ? `${name} is ready.` : `${name} is ready: ${hostname}`;
}

function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
