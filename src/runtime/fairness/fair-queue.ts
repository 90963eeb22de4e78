/**
 * A queue that serves its clients in turn: a client with a thousand items does not delay one with a single item. The
 * items of one client keep their order.
 */
export class FairQueue<Item> {
  /** In the order of the clients' turns. */
  readonly #itemsByClient = new Map<string, Item[]>()

  get isEmpty(): boolean {
    return this.#itemsByClient.size === 0
  }

  add(client: string, item: Item): void {
    const items = this.#itemsByClient.get(client)
    if (items === undefined) this.#itemsByClient.set(client, [item])
    else items.push(item)
  }

  /** Removes and returns the first item of the client whose turn it is; undefined if the queue is empty. */
  take(): Item | undefined {
    for (const [client, items] of this.#itemsByClient) {
      this.#itemsByClient.delete(client)
      const item = items.shift()
      if (items.length > 0) this.#itemsByClient.set(client, items)
      return item
    }
    return undefined
  }
}
