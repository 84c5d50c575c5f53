# The runtime as an image: it serves the module at /service/module.wasm and keeps its journal in /data.
#   docker build -t svc .
#   docker run -p 9000:9000 -v carts:/data -v ./shopping-cart.wasm:/service/module.wasm:ro svc

FROM node:26-slim AS install
WORKDIR /svc
COPY package.json package-lock.json .npmrc ./
COPY contract/package.json contract/
COPY guest-sdk/package.json guest-sdk/
COPY host/package.json host/
COPY cli/package.json cli/
RUN npm ci --omit=dev --workspace contract --workspace host --include-workspace-root

FROM node:26-slim
WORKDIR /svc
COPY --from=install /svc/node_modules node_modules
COPY package.json ./
COPY contract contract
COPY host host
COPY cli cli
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 9000
ENTRYPOINT ["node", "cli/bin/svc.js", "run"]
CMD ["/service/module.wasm", "--host", "0.0.0.0", "--data", "/data", "--log", "json"]
