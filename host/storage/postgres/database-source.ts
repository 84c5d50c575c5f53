// DatabaseSource says where the URL of a database is. Each thread that connects reads the URL itself, so that no message between
// threads, no argument of a process and no location holds a password, and a password that was changed is used by the next connection.

export type DatabaseSource =
  /** The file holds the URL alone; white space around it is ignored. */
  | { readonly kind: 'file'; readonly path: string }
  /** The URL is the value of this environment variable. */
  | { readonly kind: 'environment'; readonly variable: string };
