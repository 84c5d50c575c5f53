// ClusterAccess: how a cluster is reached, as a kubeconfig or the pod of the control plane says it. Files that it names are read when they are needed, since
// others replace them.

export interface ClusterAccess {
  /** Names where this is from in a message: `the kubeconfig /etc/svc/kubeconfig`. */
  readonly source: string;
  /** `https://host:port`, with a path where a proxy serves several clusters. */
  readonly server: string;
  /** Certificates that sign the server's; undefined: those of Node. */
  readonly authority: PemSource | undefined;
  /** The name that the server's certificate has, if it is another one than the host. */
  readonly serverName: string | undefined;
  readonly user: AccessUser;
  /** Namespace of the pod of the control plane; undefined: it runs outside of the cluster. */
  readonly podNamespace: string | undefined;
}

/** The client of the server. There is a plugin, a token with or without a certificate, a certificate, or nothing. */
export interface AccessUser {
  readonly token: string | undefined;
  /** Absolute path of the file with the token. */
  readonly tokenFile: string | undefined;
  readonly pair: { readonly certificate: PemSource; readonly key: PemSource } | undefined;
  readonly plugin: CredentialCommand | undefined;
}

export type PemSource = { readonly file: string } | { readonly pem: string };

/** A program that prints credentials, as `exec` of a kubeconfig names it. */
export interface CredentialCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Value of KUBERNETES_EXEC_INFO. */
  readonly execInfo: string;
}
