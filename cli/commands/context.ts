// svc context list, use, set: the installations that a user works with.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isOrganizationId, isProjectId, isTenantId } from '@svc/client';
import { didYouMean } from '@svc/contract/suggestion';
import { printableJson } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import type { OptionDescription, WordDescription } from '../description.ts';
import { printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import {
  changeContexts,
  CONTEXT_NAME,
  readAuthority,
  readContexts,
  type Context,
} from '../platform/contexts.ts';
import { readEnvironment } from '../platform/environment.ts';
import { imageFolderText, readImageFolder } from '../platform/image-folder.ts';
import { PLATFORM_URL_FORM, readPlatformUrl } from '../platform/platform-url.ts';
import { printTable } from '../platform/printed-answer.ts';

const NAME_WORD: WordDescription = {
  name: 'NAME',
  completes: { kind: 'names', command: 'context list' },
};

export const contextList = command(
  {
    name: 'context list',
    summary: 'list the contexts',
    about: `Lists the contexts: the installations that you work with, and the organization and the project
that commands use there. The current one has an asterisk.`,
    words: [],
    options: {
      output: {
        type: 'string',
        short: 'o',
        value: 'FORMAT',
        help: "'text', 'json', or 'names' for completion",
        default: 'text',
        completes: { kind: 'choices', choices: ['text', 'json', 'names'] },
      },
    },
    examples: ['svc context list'],
  },
  async (_words, { output }) => {
    const { folders, variables } = readEnvironment();
    const { current, contexts } = readContexts(folders);
    const all = Object.entries(contexts).toSorted(([a], [b]) => (a < b ? -1 : 1));
    if (output === 'json')
      await printData(`${printableJson(JSON.stringify({ current: current ?? null, contexts }))}\n`);
    else if (output === 'names') await printData(all.map(([name]) => `${name}\n`).join(''));
    else if (all.length === 0)
      process.stderr.write('There are no contexts. Set one with svc context set NAME --url URL.\n');
    else
      await printTable(
        ['', 'name', 'url', 'organization', 'project', 'tenant'],
        all.map(([name, { url, organization = '', project = '', tenant = '' }]) => [
          name === (variables.SVC_CONTEXT ?? current) ? '*' : '',
          name,
          url,
          organization,
          project,
          tenant,
        ]),
      );
    return EXIT_CODE.ok;
  },
);

export const contextUse = command(
  {
    name: 'context use',
    summary: 'choose the current context',
    about: `Chooses the context that commands use from now on. SVC_CONTEXT chooses one for a terminal alone.`,
    words: [NAME_WORD],
    options: {},
    examples: ['svc context use production'],
  },
  async ([name]) => {
    const { folders } = readEnvironment();
    let used: Context | undefined;
    await changeContexts(folders, ({ contexts }) => {
      used = contexts[name!];
      if (used === undefined)
        throw new UsageError(
          `there is no context '${name}'.${didYouMean(name!, Object.keys(contexts))} svc context list lists them.`,
        );
      return { current: name!, contexts };
    });
    process.stderr.write(`Commands use ${used!.url} from now on.\n`);
    return EXIT_CODE.ok;
  },
);

const text = (value: string, help: string): OptionDescription & { readonly type: 'string' } => ({
  type: 'string',
  value,
  help,
});

export const contextSet = command(
  {
    name: 'context set',
    summary: 'create or change a context',
    about: `Creates a context, or changes what is given of it. The first context becomes the current one.`,
    words: [NAME_WORD],
    options: {
      url: text('URL', 'control plane: https://api.example.com; required for a new context'),
      organization: text('ID', 'organization in which svc project create creates projects'),
      project: text('ID', 'project of the svc service commands'),
      tenant: text('ID', 'tenant of the svc webhooks commands'),
      authority: text('FILE.pem', 'certificates of the authority of the installation'),
      images: text(
        'NAME=DIR',
        `folder of this machine for the images of svc deploy in place of the
registry, by the name in svc.local.image-folders of the installation`,
      ),
    },
    notes: `Without an authority, the certificate of the installation has to be one that this machine trusts.`,
    examples: [
      'svc context set production --url https://api.example.com --organization acme',
      'svc context set production --project shop',
    ],
  },
  async ([name], { url, organization, project, tenant, authority, images }) => {
    if (!CONTEXT_NAME.test(name!))
      throw new UsageError(
        `context set takes a name of up to 63 letters, digits, '.', '_' and '-', and found '${name}'.`,
      );
    const given = {
      ...(url === undefined ? {} : { url: urlOf(url) }),
      ...(organization === undefined
        ? {}
        : { organization: idOf('organization', organization, isOrganizationId) }),
      ...(project === undefined ? {} : { project: idOf('project', project, isProjectId) }),
      ...(tenant === undefined ? {} : { tenant: idOf('tenant', tenant, isTenantId) }),
      ...(authority === undefined ? {} : { authority: authorityOf(authority) }),
      ...(images === undefined ? {} : { images: imagesOf(images) }),
    };
    const { folders } = readEnvironment();
    let isCurrent = false;
    await changeContexts(folders, ({ current, contexts }) => {
      const context = { ...contexts[name!], ...given };
      if (context.url === undefined)
        throw new UsageError(`context set needs --url for the new context '${name}'.`);
      isCurrent = current === undefined || current === name;
      return {
        current: current ?? name!,
        contexts: { ...contexts, [name!]: { ...context, url: context.url } },
      };
    });
    process.stderr.write(
      `Set the context '${name}'${isCurrent ? ', which commands use' : ''}. Log in with svc login.\n`,
    );
    return EXIT_CODE.ok;
  },
);

function urlOf(value: string): string {
  const url = readPlatformUrl(value);
  if (url !== undefined) return url;
  throw new UsageError(`context set takes ${PLATFORM_URL_FORM} as --url, and found '${value}'.`);
}

function idOf(option: string, value: string, isId: (value: string) => boolean): string {
  if (isId(value)) return value;
  throw new UsageError(`context set takes the id of a ${option}, and found '${value}'.`);
}

/** Returns the text with the absolute path, since commands run in any folder. Throws UsageError if the folder is not there. */
function imagesOf(value: string): string {
  const named = readImageFolder(value);
  if (named === undefined)
    throw new UsageError(
      `context set takes a folder such as images=/srv/images as --images, and found '${value}'.`,
    );
  if (statSync(named.folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`context set found no folder ${named.folder}. Create it first.`);
  return imageFolderText(named);
}

/** Returns the absolute path, since commands run in any folder. Throws SVC_CONTEXT_INVALID if the file has no certificate. */
function authorityOf(path: string): string {
  const absolute = resolve(path);
  readAuthority(absolute);
  return absolute;
}
