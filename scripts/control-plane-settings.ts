// ControlPlaneSettings: the part of docs/reference/settings.md about the settings of the control plane that are texts.

/** Settings of the control plane that are texts. */
export const CONTROL_PLANE_SETTINGS = `\`svc control-plane\`, the [control plane](control-plane.md), has the settings of [its section](#control-plane), of
[access tokens](#access-tokens), of the [orchestrator](#orchestrator), of [services of one machine](#services-of-one-machine) and of [how their instances are replaced](#replacing-instances-on-one-machine), of [services in a cluster](#services-in-a-kubernetes-cluster), \`svc.data\` (by default \`.svc/control-plane\`), \`svc.deployed\`, \`svc.log\`, \`svc.management.*\`, \`svc.running.dir\`,
\`svc.observability.otlp-endpoint\`, \`svc.observability.otlp-headers\`, and these:

| Setting | Short form | Default | What it is |
|---|---|---|---|
| \`svc.control-plane.host\` | \`--host\` | 127.0.0.1 | address to listen on. Without TLS it has to be a loopback address |
| \`svc.control-plane.tls-certificate\` | | none | PEM file with the certificate of the API, and the intermediate ones after it. With \`svc.control-plane.tls-key\` the API is served with TLS |
| \`svc.control-plane.tls-key\` | | none | PEM file with the key of that certificate |
| \`svc.control-plane.allowed-origins\` | | none | origins of pages that may use the API from a browser, such as \`https://console.example.com\`, with commas between |
| \`svc.database.url-file\` | | none | file with the URL of [a PostgreSQL database](../how-to/postgresql.md) that holds the journal, instead of \`svc.data\` |
| \`svc.database.url-variable\` | | none | name of an environment variable with that URL, instead of a file |
| \`svc.database.authorities-file\` | | those that Node trusts | PEM file with the authorities of that server's certificate, where [the URL](postgresql.md#the-url) names none (\`sslrootcert\`); read for each connection |
| \`svc.control-plane.base-domain\` | | none | domain of derived hostnames, \`https://SERVICE-PROJECT.BASE_DOMAIN\`, with a port if it is not 443; without it, no service can be exposed |
| \`svc.organization-creation\` | | \`anyone\` | who may create organizations beside platform administrators: \`anyone\` with a valid token, callers with a \`verified-email\`, or only the \`platform-admin\` |
| \`svc.signup-url\` | | none | URL to which a caller is pointed who may not create an organization |
| \`svc.auth.issuer\` | | | URL of the [identity provider](identity-provider.md), exactly as its tokens have it |
| \`svc.auth.client-id\` | | | public client with which the command line logs in |
| \`svc.auth.audience\` | | \`https://api.BASE_DOMAIN\` | audience that an access token must have |
| \`svc.auth.roles-claim\` | | \`realm_access.roles\` | claim with the list of a caller's roles |
| \`svc.local.folder\` | | none | folder of the services that run as processes of this machine ([Running services on one machine](../how-to/running-services-on-one-machine.md)); without it, nothing is run |
| \`svc.local.network\` | | 127.83; ports elsewhere than on Linux | first two numbers of the loopback addresses of these services, 127.1 to 127.255; with \`ports\` they share 127.0.0.1, with free ports |
| \`svc.local.image-folders\` | | none | folders with images, \`NAME=FOLDER\`, separated by commas: the image \`oci:NAME/cart\` is the layout \`cart\` below FOLDER |
| \`svc.local.registry-credentials\` | | none | file with names and passwords for registries of images, a \`config.json\` as \`docker login\` writes it |
| \`svc.local.registry-authority\` | | none | PEM file with certificates that registries may have beside those that everybody trusts |
| \`svc.local.private-registries\` | | none | hosts, with their ports, that may be on this machine or in a private network when an image leads there: \`127.0.0.1:5000,registry.corp.example\` |
| \`svc.local.platform-registry\` | | none | host of [the installation's own registry](../how-to/running-the-registry.md): \`registry.example.com\`. Its images are for services of the same project only |
| \`svc.local.platform-registry-token\` | | none | file with the token by which this machine pulls from it |
| \`svc.local.secrets-folder\` | | \`secrets\` in the folder | folder with a folder for each project, in which the operator puts the [secrets of modules](../how-to/configuration.md#in-an-installation) |
| \`svc.local.postgres-url-file\` | | none | file with the URL of a PostgreSQL server on which [each new module gets a database](../how-to/running-services-on-one-machine.md#give-services-databases), as a role that may create roles and databases |
| \`svc.local.service-audience\` | | none | audience of access tokens for services with [\`auth: platform\`](../how-to/bearer-tokens.md#in-an-installation); without it, no descriptor may have that; it must not be \`svc.auth.client-id\`, and should not be \`svc.auth.audience\` |
| \`svc.local.service-scopes-claim\` | | \`scope\` | the claim with the scopes of a caller of these services, names with full stops between |
| \`svc.local.new-authority\` | | \`false\` | whether the [authorities of this machine](machine-certificates.md#replacing-the-authorities) are replaced by others at this start |
| \`svc.local.outbound\` | | \`true\` | whether [programs of images](../how-to/running-services-on-one-machine.md#deploy-a-program) may connect to other machines, for which the machine needs pasta |
| \`svc.local.cgroup\` | | none | path of the [control group](../how-to/running-services-on-one-machine.md#let-the-kernel-limit-a-service) below which each instance has one with its limits |
| \`svc.local.plain-instances\` | | \`false\` | whether these services have no [identity](machine-certificates.md) and listen without TLS, for development: they do not know then who calls them |
| \`svc.local.routes-socket\` | | \`routes.sock\` in the folder | path of the socket at which the gateway gets the routes of these services, at most 103 bytes |
| \`svc.local.routes-file\` | | \`routes.json\` in the folder | file with the same routes, with which a gateway starts |
| \`svc.kubernetes.image\` | | none | image of svc that pods run, such as \`registry.example.com/svc:0.1.0\`. With it, [services run in a Kubernetes cluster](../how-to/kubernetes.md); not beside \`svc.local.folder\` |
| \`svc.kubernetes.kubeconfig\` | | none | kubeconfig of the cluster; without it, the control plane is a pod of the cluster and uses its ServiceAccount |
| \`svc.kubernetes.context\` | | the current one | context of the kubeconfig |
| \`svc.kubernetes.new-cluster\` | | \`false\` | whether the cluster that answers at this start [replaces the one](../how-to/kubernetes.md#move-to-another-cluster) in which services ran before |
| \`svc.kubernetes.namespace\` | | that of the pod of the control plane; \`svc-platform\` outside of a cluster | namespace of the platform's own programs, which no project may have |
| \`svc.kubernetes.trust-domain\` | | the base domain; without one, svc.localhost | trust domain of the [identities](identity.md) of services |
| \`svc.kubernetes.gateway\` | | \`spiffe://DOMAIN/gateway\` | SPIFFE ID of what forwards requests of the internet: the gateway, or the ingress controller |
| \`svc.kubernetes.identities\` | | \`control-plane\` | who makes the [certificates of services](../how-to/kubernetes.md#certificates): the \`control-plane\`, or the \`operator\`, with cert-manager for example |
| \`svc.kubernetes.authority-folder\` | | none | folder with \`tls.crt\` and \`tls.key\` of [the authority](../how-to/kubernetes.md#the-authority) of these certificates, such as a mounted secret; without it, the control plane makes an authority in \`svc.data\`, and with its journal in a database it does not start |
| \`svc.kubernetes.new-authority\` | | \`false\` | whether the authority that the control plane has made is replaced by another one at this start |
| \`svc.kubernetes.gateway-secret\` | | \`gateway-identity\` | name of the secret with the certificate of the gateway, in the namespace of the platform |
| \`svc.kubernetes.pull-secrets\` | | none | names of the secrets by which images are pulled, in the namespace of each project, with commas between |
| \`svc.kubernetes.platform-registry\` | | none | host of [the installation's own registry](../how-to/running-the-registry.md). Its images are for services of the same project only |
| \`svc.kubernetes.ingress-class\` | | none | class of the Ingresses by which hostnames lead to services; without it there are none |
| \`svc.kubernetes.ingress-annotations-file\` | | none | file in YAML or JSON with the [annotations of Ingresses](../how-to/kubernetes.md#lead-hostnames-to-services) |
| \`svc.kubernetes.ingress-certificates\` | | \`controller\` | where the certificate of a hostname is: with the \`controller\`, or in a secret for each \`service\` |
| \`svc.kubernetes.storage-class\` | | that of the cluster | StorageClass of the volumes of journals |
| \`svc.kubernetes.journal-size\` | | \`10Gi\` | size of the volume of a journal |
| \`svc.kubernetes.databases-file\` | | none | file in YAML or JSON that says [how the cluster makes databases](../how-to/kubernetes.md#let-the-cluster-make-databases); without it, a service has its journal on a volume unless it declares a database |
| \`svc.kubernetes.remoting-from\` | | \`cluster\` | which pods reach the [port between instances](remoting.md): those of the whole \`cluster\`, or of the \`service\` alone |
| \`svc.kubernetes.default-cpu\` | | \`100m\` | processors that a service asks for if it declares no resources |
| \`svc.kubernetes.default-memory\` | | \`512Mi\` | memory that such a service asks for, and may use |
| \`svc.kubernetes.sidecar-cpu\` | | \`100m\` | processors that the runtime or the proxy beside a program asks for |
| \`svc.kubernetes.sidecar-memory\` | | \`512Mi\` | memory that it asks for, and may use |
| \`svc.kubernetes.service-audience\` | | none | audience of access tokens for services with [\`auth: platform\`](../how-to/bearer-tokens.md#in-an-installation), as \`svc.local.service-audience\` is on one machine |
| \`svc.kubernetes.service-scopes-claim\` | | \`scope\` | the claim with the scopes of a caller of these services, names with full stops between |`;
