// The module: what is registered here exists, everything else does not.
import { register } from "@svc/guest-sdk";
import { ToDoEndpoint } from "./to-do-endpoint";
import { ToDoList } from "./to-do-list";

register<ToDoList>();
register<ToDoEndpoint>();
