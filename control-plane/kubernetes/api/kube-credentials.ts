// KubeCredentials: by what the API server knows who asks it. A source gives the present ones, since tokens and certificates expire.

export interface KubeCredentials {
  /** Value of the header `authorization`. */
  readonly authorization?: string | undefined;
  /** Certificate and key of the client, as PEM. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export interface CredentialSource {
  /** Returns the present credentials. It is called for each request. */
  current(): Promise<KubeCredentials>;
  /** Returns the credentials after the server has refused some with 401; the refused ones if there are no others. */
  renewed(refused: KubeCredentials): Promise<KubeCredentials>;
}

/** Returns a source of credentials that do not change. */
export function fixedCredentials(credentials: KubeCredentials): CredentialSource {
  return {
    current: () => Promise.resolve(credentials),
    renewed: () => Promise.resolve(credentials),
  };
}

export function areSame(one: KubeCredentials, other: KubeCredentials): boolean {
  return (
    one.authorization === other.authorization &&
    one.certificate === other.certificate &&
    one.key === other.key
  );
}
