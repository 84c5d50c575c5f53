# The runtime as an image. It serves the module at /service/module.wasm and keeps its journal in /data;
# docs/how-to/deploying.md says how it is run. With the command `svc proxy` it is the proxy of a web-hosted service instead
# (docs/how-to/web-pods.md), with `svc gateway` the gateway (docs/how-to/running-the-gateway.md), with `svc registry` the registry
# (docs/how-to/running-the-registry.md), with `svc control-plane --deployed` the control plane
# (docs/how-to/operating-the-control-plane.md), and with `svc webhook-service --deployed` the webhook service
# (docs/how-to/running-the-webhook-service.md). There is no HEALTHCHECK: the process ends when it cannot go on, and one that is
# busy is not helped by being restarted.

FROM node:26-slim AS packages
WORKDIR /svc
COPY . .
RUN node scripts/pack.ts --folders --out /packages client addresses contract http1 kit model components process-protocol oci identity forward routing tokens host api proxy gateway control-plane registry webhooks cli

# Of the lock file, what the runtime needs; neither the compiler nor the command line's own Node.
FROM node:26-slim AS dependencies
WORKDIR /svc
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY contract/package.json contract/
COPY http1/package.json http1/
COPY kit/package.json kit/
COPY model/package.json model/
COPY components/package.json components/
COPY process-protocol/package.json process-protocol/
COPY oci/package.json oci/
COPY identity/package.json identity/
COPY forward/package.json forward/
COPY routing/package.json routing/
COPY addresses/package.json addresses/
COPY tokens/package.json tokens/
COPY host/package.json host/
COPY api/package.json api/
COPY proxy/package.json proxy/
COPY gateway/package.json gateway/
COPY control-plane/package.json control-plane/
COPY registry/package.json registry/
COPY webhooks/package.json webhooks/
RUN npm ci --omit=dev --ignore-scripts --loglevel=error --workspace @svc/client --workspace @svc/addresses --workspace @svc/contract --workspace @svc/http1 --workspace @svc/kit --workspace @svc/model --workspace @svc/components --workspace @svc/process-protocol --workspace @svc/oci --workspace @svc/identity --workspace @svc/forward --workspace @svc/routing --workspace @svc/tokens --workspace @svc/host --workspace @svc/api --workspace @svc/proxy --workspace @svc/gateway --workspace @svc/control-plane --workspace @svc/registry --workspace @svc/webhooks \
    && rm -r node_modules/@svc node_modules/.bin node_modules/.package-lock.json \
    && find node_modules -type d \( -name test -o -name docs -o -name 'benchmark*' -o -name examples \) -prune -exec rm -r {} + \
    && find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.test.*' -o -name '*.map' \) -delete

FROM node:26-slim
COPY --from=dependencies /svc/node_modules /svc/node_modules
COPY --from=packages /packages /svc/node_modules/@svc
RUN ln -s /svc/node_modules/@svc/cli/bin/svc.js /usr/local/bin/svc \
    && mkdir /data /service \
    && chown 1000:1000 /data /service
# By its number, so that a cluster can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 9000 7626
ENTRYPOINT ["svc", "run", "--deployed"]
