// The module: what is registered here exists, everything else does not.
import { register } from "@svc/guest-sdk";
import { Dataset } from "./dataset";
import { DatasetEndpoint } from "./dataset-endpoint";
import { HookEndpoint } from "./hook-endpoint";
import { Receipt } from "./receipt";
import { Results } from "./results";

register<Receipt>();
register<Results>();
register<Dataset>();
register<HookEndpoint>();
register<DatasetEndpoint>();
