// LeftJournal: descriptors with which a service would begin an empty journal although it has one elsewhere. The rules are the same for every
// driver; where a journal can be, and what it is called there, differs.
import { hostingKind, type Problem, type ServiceDescriptor } from '@svc/client';

/** Where the journal of a service is, and how members read of it. */
export interface PresentJournal {
  /** The secret with the URL of the database that the service has declared; undefined: it has declared none. */
  readonly supplied: string | undefined;
  /** The database that was made for the service, such as `a database that the installation made`; undefined: none was. */
  readonly made: string | undefined;
  /** Where files of the journal are, such as `a folder of the installation`; undefined: there are none. */
  readonly files: string | undefined;
  /** Why no journal of this descriptor can be in a database, such as `this installation keeps only journals of modules there`; undefined: it can. */
  readonly noDatabase: string | undefined;
}

/** Returns the problem of such a descriptor; undefined: the service keeps its journal, or has none. */
export function leftJournal(
  descriptor: ServiceDescriptor,
  { supplied, made, files, noDatabase }: PresentJournal,
): Problem | undefined {
  const { hosting = 'embedded', database } = descriptor;
  // A web-hosted service has no journal, so it leaves the one of its name as it is.
  if (hostingKind({ ...descriptor }) === 'web') return undefined;
  if (noDatabase !== undefined)
    return made === undefined && supplied === undefined
      ? undefined
      : {
          path: '/hosting',
          reason: `is ${hosting}: the journal of this service is in a database, and ${noDatabase}. Apply the service under another name`,
        };
  if (database === undefined)
    return supplied === undefined
      ? undefined
      : {
          path: '/database',
          reason: `is missing, and the journal of this service is in a database that was declared: declare it again (database.urlFrom: ${supplied}), have the operator of this installation move the journal, or apply the service under another name`,
        };
  const storage = made ?? files;
  return storage === undefined
    ? undefined
    : {
        path: '/database',
        reason: `is declared, and the journal of this service is in ${storage}: have its operator move the journal into the declared database, or apply the service under another name`,
      };
}
