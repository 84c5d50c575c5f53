// LocalContext: the context by which the commands of this user find the installation of this machine.
import { changeContexts, readContexts } from '../platform/contexts.ts';
import type { UserFolders } from '../platform/user-folders.ts';

export interface LocalContext {
  readonly name: string;
  readonly url: string;
  readonly authority: string;
  /** Tenant of a context that has none. */
  readonly tenant: string | undefined;
}

export interface WrittenContext {
  readonly name: string;
  readonly isCurrent: boolean;
}

/**
 * Writes the context, and makes it the current one when it is new: later starts leave what the user has chosen since. Rejects with
 * SVC_CONTEXT_INVALID.
 */
export async function writeLocalContext(
  folders: UserFolders,
  { name, tenant, ...installation }: LocalContext,
): Promise<WrittenContext> {
  await changeContexts(folders, ({ current, contexts }) => {
    const known = contexts[name];
    // Organization, project and tenant belong to the installation of the URL.
    const kept = known?.url === installation.url ? known : {};
    return {
      current: known === undefined ? name : current,
      contexts: {
        ...contexts,
        [name]: { ...(tenant === undefined ? {} : { tenant }), ...kept, ...installation },
      },
    };
  });
  return { name, isCurrent: readContexts(folders).current === name };
}
