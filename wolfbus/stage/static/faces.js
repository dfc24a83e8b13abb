// A face per player: a letter, a hue by seat, a shape by role.
import { h } from "./dom.js";

const SHAPES = {
  Villager: "M20 3a17 17 0 1 0 0 34a17 17 0 1 0 0-34z",
  Werewolf: "M3.5 2.5 14 8q6-2 12 0L36.5 2.5 37 19Q36 37 20 38 4 37 3 19z",
  Seer: "M20 2.5 37.5 20 20 37.5 2.5 20z",
  Doctor: "M12.5 3.5h15v9h9v15h-9v9h-15v-9h-9v-15h9z",
};
// of any other role
const OTHER = "M20 2.5 36 11.5v17L20 37.5 4 28.5v-17z";
const UNKNOWN = "M11 4.5h18q6.5 0 6.5 6.5v18q0 6.5-6.5 6.5H11q-6.5 0-6.5-6.5V11q0-6.5 6.5-6.5z";

// The shortest beginnings of names that differ; of long ones the first and last sign.
export function letters(names) {
  return names.map((name) => {
    let start = "";
    for (const sign of name) if (!start || names.filter((other) => other.startsWith(start))[1]) start += sign;
    const signs = [...start];
    return signs[4] ? signs[0] + signs.at(-1) : start;
  });
}

export function hueOf(place, seats) {
  return Math.round(22 + (place * 360) / Math.max(seats, 1)) % 360;
}

export function shapeOf(seat) {
  return seat?.role ? (SHAPES[seat.role] ?? OTHER) : UNKNOWN;
}

export function face(seats, name, shape = true) {
  const names = seats.map((seat) => seat.name);
  const place = names.indexOf(name);
  const seat = seats[place] ?? { name };
  const letter = letters(names)[place] ?? "?";
  return h(
    `svg.face${seat.left ? ".dead" : ""}${shape && seat.team === "werewolves" ? ".wolf" : ""}`,
    { viewBox: "0 0 40 40", "aria-hidden": "true", "--hue": hueOf(place, seats.length) },
    h("path", { d: shape ? shapeOf(seat) : UNKNOWN }),
    h("text", { x: 20, y: 27.5 - letter.length, "font-size": 21 - 3 * letter.length }, letter),
  );
}
