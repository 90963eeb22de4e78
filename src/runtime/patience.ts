/**
 * Waits until work has ended, well or badly, but no longer than so many milliseconds. What goes wrong in it is for
 * whoever started it to tell.
 * @returns whether it has ended
 */
export async function endsWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((done) => {
    timer = setTimeout(() => done(false), milliseconds)
  })
  const over = () => true
  try {
    return await Promise.race([work.then(over, over), late])
  } finally {
    clearTimeout(timer)
  }
}
