/** Numbers the turns of the event loop; asking costs nothing until the turn is over. */
export type Turn = () => number

/**
 * What another process did can only be told by a message, and messages arrive between turns: whoever has asked SQLite
 * for changes in a turn (2 us) need not ask again in it.
 */
export function turns(): Turn {
  let turn = 0
  let ending = false
  return () => {
    if (!ending) {
      ending = true
      setImmediate(() => {
        ending = false
        turn++
      })
    }
    return turn
  }
}
