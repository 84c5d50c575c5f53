// The module: what is registered here exists, everything else does not.
import { register } from "@svc/guest-sdk";
import { Room } from "./room";
import { RoomEndpoint } from "./room-endpoint";

register<Room>();
register<RoomEndpoint>();
