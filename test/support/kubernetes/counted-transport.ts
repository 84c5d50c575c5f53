// CountedTransport counts the requests to an API server, by method and kind of path.
import {
  type JsonObject,
  type KubeRequest,
  KubeTransport,
} from '../../../control-plane/kubernetes/api/kube-transport.ts';

export class CountedTransport extends KubeTransport {
  /** The requests since the last `take`, such as `GET /api/v1/pods?watch`. */
  #requests: string[] = [];

  /** Returns the requests since the last call, and forgets them. */
  take(): readonly string[] {
    const taken = this.#requests;
    this.#requests = [];
    return taken;
  }

  override send(sent: KubeRequest): Promise<JsonObject> {
    this.#count(sent);
    return super.send(sent);
  }

  override stream<Result>(
    sent: KubeRequest & { readonly signal: AbortSignal; readonly endsInTime: boolean },
    read: (pieces: AsyncIterable<Buffer>) => Promise<Result>,
  ): Promise<Result> {
    this.#count(sent);
    return super.stream(sent, read);
  }

  #count({ method, path, query }: KubeRequest): void {
    this.#requests.push(`${method} ${path}${query?.['watch'] === true ? '?watch' : ''}`);
  }
}
