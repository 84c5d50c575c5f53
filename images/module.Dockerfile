# A module alone as an image: run beside the runtime's, with a volume at /service in both, it puts the
# module where the runtime loads it, and ends. The context is a folder that holds the module:
#   docker build -f images/module.Dockerfile --build-arg MODULE=shopping-cart.wasm -t shopping-cart build

FROM busybox:stable-musl AS tools
RUN mkdir /service && chown 1000:1000 /service

FROM scratch
ARG MODULE=module.wasm
# busybox is one static program, which does what its file's name says.
COPY --from=tools /bin/busybox /cp
# A new volume takes its owner from here.
COPY --from=tools --chown=1000:1000 /service /service
COPY ${MODULE} /module.wasm
USER 1000:1000
ENTRYPOINT ["/cp", "/module.wasm", "/service/module.wasm"]
