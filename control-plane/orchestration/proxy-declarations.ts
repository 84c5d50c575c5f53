// ProxyDeclarations: what a web-hosted service declares, as settings of its proxy.
import type { WebServiceDescriptor } from '@svc/client';

export function proxyDeclarations({
  mounts = [],
  callers = [],
  hostnames = [],
}: WebServiceDescriptor): Readonly<Record<string, string>> {
  return {
    ...listed('SVC_PROXY_MOUNTS', mounts.map(mountText)),
    ...listed('SVC_PROXY_CALLERS', callers),
    ...listed('SVC_PROXY_HOSTNAMES', hostnames),
  };
}

function listed(variable: string, values: readonly string[]): Readonly<Record<string, string>> {
  return values.length === 0 ? {} : { [variable]: values.join(',') };
}

/** A comma separates mounts, so one in a path is written otherwise. */
function mountText({ path, service }: { readonly path: string; readonly service: string }): string {
  return `${path.replaceAll(',', '%2C')}=${service}`;
}
