# The image: distroless, user 65532, nothing that has to be written.
#
#   docker build -t IMAGE .                    the executable
#   docker build -t IMAGE --target bundle .    Deno and the bundle, where Deno's runtime
#                                              for executables (denort) can't be had
#
# A build prints the SHA-256 of the denort that Deno's release server gave it; from then
# on --build-arg DENORT_SHA256=... makes sure that it is the same.

FROM node:24-bookworm-slim AS build
WORKDIR /src
ENV TAILSCALE_GATEWAY_CACHE=/cache DENO_DIR=/cache/packages
# Deno alone changes more rarely than the sources. Its own SHA-256 is in bin/deno.
COPY bin/deno bin/deno
RUN bin/deno --version && cp /cache/deno-*/deno /deno
COPY . .
ARG DENORT_SHA256
RUN bin/deno task build

FROM gcr.io/distroless/cc-debian12:nonroot AS bundle
# Deno may read the folder that it is started in.
WORKDIR /app
COPY examples/quickstart /app/examples/quickstart
COPY --from=build /deno /deno
COPY --from=build /src/dist/tailscale-gateway.cdx.json /app/dist/tailscale-gateway.cdx.json
COPY --from=build /src/dist/tailscale-gateway.js /app/dist/tailscale-gateway.js
USER 65532:65532
ENTRYPOINT [ \
  "/deno", \
  "run", \
  "--no-prompt", \
  "--allow-net", \
  "--deny-net=169.254.0.0/16,168.63.129.16,100.100.100.200,[fd00:ec2::254],[fd20:ce::254],[fe80::a9fe:a9fe]", \
  "--allow-read=.,/var/run/secrets/kubernetes.io/serviceaccount,/var/run/secrets/tailscale/serviceaccount", \
  "--allow-env=HOME,IDENTITY_TOKEN_FILE,KUBECONFIG,KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT,LEADER_ELECT,LOG_FORMAT,LOG_LEVEL,OPERATOR_NAMESPACE,POD_NAME,PROXY_IMAGE,SERVICE_ACCOUNT", \
  "--ignore-env", \
  "--deny-write", \
  "--deny-run", \
  "--deny-ffi", \
  "--deny-sys", \
  "--deny-import", \
  "--no-remote", \
  "--no-config", \
  "--no-lock", \
  "--no-npm", \
  "--cached-only", \
  "--no-code-cache", \
  "--v8-flags=--max-old-space-size=384", \
  "/app/dist/tailscale-gateway.js" \
]

FROM gcr.io/distroless/cc-debian12:nonroot
WORKDIR /app
COPY --from=build /src/dist/tailscale-gateway.cdx.json /app/tailscale-gateway.cdx.json
COPY --from=build /src/dist/tailscale-gateway /app/tailscale-gateway
USER 65532:65532
ENTRYPOINT ["/app/tailscale-gateway"]
