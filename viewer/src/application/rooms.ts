// The rooms of the application, each with an address of its own; what follows # in it belongs to the room.
import { useEffect, useState } from "preact/hooks";

export const ROOMS = { hand: "By hand", read: "Read", lab: "Lab", learn: "Learn" } as const;
export type Room = keyof typeof ROOMS;

export function roomOf(path: string): Room {
  const name = path.replace(/^\/+|\/.*$/g, "");
  return Object.hasOwn(ROOMS, name) ? (name as Room) : "read";
}

/** The room of the address, and how to go to another without loading the page anew. */
export function useRoom(): [Room, (room: Room) => void] {
  const [room, setRoom] = useState(roomOf(location.pathname));
  useEffect(() => {
    const follow = () => setRoom(roomOf(location.pathname));
    window.addEventListener("popstate", follow);
    return () => window.removeEventListener("popstate", follow);
  }, []);
  const go = (wanted: Room) => {
    if (wanted === room) return;
    history.pushState(null, "", `/${wanted}`);
    setRoom(wanted);
  };
  return [room, go];
}
