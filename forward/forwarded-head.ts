// ForwardedHead: the head of a request as the proxy sends it on: to the process, to a mounted service, or to a service that
// the process calls. The request is always HTTP/1.1, with the method as it arrived.
import type { RequestHead } from '@svc/http1';
import type { Arrival, OwnService } from './arrival.ts';
import { type AddressedTo, addressedTo, processHost } from './authority.ts';
import { passedRequestFields } from './request-fields.ts';

export interface ForwardedHead {
  readonly method: string;
  readonly path: string;
  /** Name, value, name, value and so on, without `Transfer-Encoding`. */
  readonly fields: readonly string[];
}

export interface MountedService {
  /** Path of the request without that of the mount, with its query. */
  readonly path: string;
  /** Value of `Host` for requests to the service. */
  readonly authority: string;
  /** True: `Host` is the address to which the request was sent instead. */
  readonly takesAddressFromHost?: boolean;
}

export function headForProcess(
  head: RequestHead,
  arrival: Arrival,
  own: OwnService,
): ForwardedHead {
  const address = addressedTo(head, arrival, own);
  const fields = passedRequestFields(head.fields, {
    destination: 'process',
    host: processHost(head, address, own),
    arrival,
    addressedTo: address,
  });
  return { method: head.method, path: head.path, fields };
}

export function headForMount(
  head: RequestHead,
  arrival: Arrival,
  own: OwnService,
  { path, authority, takesAddressFromHost = false }: MountedService,
): ForwardedHead {
  const address = addressedTo(head, arrival, own);
  const fields = passedRequestFields(head.fields, {
    destination: 'mount',
    host: takesAddressFromHost ? (address?.authority ?? authority) : authority,
    arrival,
    addressedTo: address,
  });
  return { method: head.method, path, fields };
}

/** `address`: where the gateway has taken the request; `clientAddress`: the IP address that has sent it. */
export function headForInside(
  head: RequestHead,
  address: AddressedTo,
  clientAddress: string,
): ForwardedHead {
  const fields = passedRequestFields(head.fields, {
    destination: 'inside',
    host: address.authority,
    arrival: undefined,
    addressedTo: address,
    clientAddress,
  });
  return { method: head.method, path: head.path, fields };
}

/** `path` and `authority`: those of the called service. */
export function headForCall(
  head: RequestHead,
  { path, authority }: { readonly path: string; readonly authority: string },
): ForwardedHead {
  const fields = passedRequestFields(head.fields, {
    destination: 'call',
    host: authority,
    arrival: undefined,
    addressedTo: undefined,
  });
  return { method: head.method, path, fields };
}
