// Target: the installation that a command speaks to, and as whom.
//
// Invariant: credentials from the environment go to the installation that the environment names, never to the current context, which
// another terminal may have changed.
import { CommandFailure } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { readAuthority, readContexts, type Context } from './contexts.ts';
import type { PlatformEnvironment } from './environment.ts';
import { readImageFolder, type ImageFolder } from './image-folder.ts';
import { PLATFORM_URL_FORM, readPlatformUrl } from './platform-url.ts';
import type { UserFolders } from './user-folders.ts';

/** Proof of who the caller is: the stored login of the URL, a token as it is, or a machine's client of the identity provider. */
export type Credentials =
  | { readonly kind: 'login' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'machine'; readonly clientId: string; readonly clientSecret: string };

export interface Target {
  readonly url: string;
  /** Certificates of the installation's authority, as PEM. */
  readonly authority: string | undefined;
  /** Name of the context; undefined if the environment has the URL. */
  readonly context: string | undefined;
  readonly organization: string | undefined;
  readonly project: string | undefined;
  /** Tenant of the webhook service. */
  readonly tenant: string | undefined;
  /** Folder of this machine from which the installation reads images. */
  readonly images: ImageFolder | undefined;
  readonly credentials: Credentials;
  readonly folders: UserFolders;
}

/** Finds the target. Throws UsageError and SVC_CONTEXT_INVALID. */
export function findTarget({ variables, folders }: PlatformEnvironment): Target {
  const { SVC_URL, SVC_CONTEXT, SVC_PROJECT, SVC_TENANT } = variables;
  const found =
    SVC_URL === undefined ? namedContext(SVC_CONTEXT, folders) : contextOf(SVC_URL, folders);
  const credentials = credentialsIn(variables);
  if (credentials.kind !== 'login' && SVC_URL === undefined && SVC_CONTEXT === undefined)
    throw new UsageError(
      `${credentials.kind === 'token' ? 'SVC_TOKEN' : 'SVC_CLIENT_SECRET'} is set without SVC_URL. It is sent only to the ` +
        'URL that is set beside it: set SVC_URL, or SVC_CONTEXT.',
    );
  const { name, context } = found;
  return {
    url: context.url,
    authority: context.authority === undefined ? undefined : readAuthority(context.authority),
    context: name,
    organization: context.organization,
    project: SVC_PROJECT ?? context.project,
    tenant: SVC_TENANT ?? context.tenant,
    images: context.images === undefined ? undefined : readImageFolder(context.images),
    credentials,
    folders,
  };
}

interface Found {
  readonly name: string | undefined;
  readonly context: Context;
}

function namedContext(wanted: string | undefined, folders: UserFolders): Found {
  const { current, contexts } = readContexts(folders);
  const name = wanted ?? current;
  if (name === undefined)
    throw new CommandFailure(
      'SVC_CONTEXT_INVALID',
      'No installation is chosen. Set one with svc context set NAME --url URL, or set SVC_URL.',
    );
  const context = contexts[name];
  if (context === undefined)
    throw new CommandFailure(
      'SVC_CONTEXT_INVALID',
      `There is no context '${name}'. svc context list lists those that there are.`,
    );
  return { name, context };
}

/** Returns a URL of the environment, with the authority and the folder for images of a context that has the same URL. */
function contextOf(text: string, folders: UserFolders): Found {
  const url = readPlatformUrl(text);
  if (url === undefined)
    throw new UsageError(`SVC_URL takes ${PLATFORM_URL_FORM}, and found '${text}'.`);
  const same = Object.values(readContexts(folders).contexts).filter((other) => other.url === url);
  const authority = same.find((other) => other.authority !== undefined)?.authority;
  const images = same.find((other) => other.images !== undefined)?.images;
  return {
    name: undefined,
    context: {
      url,
      ...(authority === undefined ? {} : { authority }),
      ...(images === undefined ? {} : { images }),
    },
  };
}

function credentialsIn({
  SVC_TOKEN,
  SVC_CLIENT_ID,
  SVC_CLIENT_SECRET,
}: PlatformEnvironment['variables']): Credentials {
  if (SVC_TOKEN !== undefined) {
    if (/^[\x21-\x7e]+$/.test(SVC_TOKEN)) return { kind: 'token', token: SVC_TOKEN };
    throw new UsageError('SVC_TOKEN has a character that no token has, such as a blank.');
  }
  if (SVC_CLIENT_ID === undefined || SVC_CLIENT_SECRET === undefined) return { kind: 'login' };
  return { kind: 'machine', clientId: SVC_CLIENT_ID, clientSecret: SVC_CLIENT_SECRET };
}
