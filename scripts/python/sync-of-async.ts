/*
 * Python's code that awaits, as the same code that blocks: one is written, the other follows from it.
 */

const WORDS: [RegExp, string][] = [
  [/\bAsyncByteStream\b/g, 'SyncByteStream'],
  [/\bIsolatedAsyncioTestCase\b/g, 'TestCase'],
  [/\basync(SetUp|TearDown)\b/g, '$1'],
  [/\bdef SetUp\b/g, 'def setUp'],
  [/\bdef TearDown\b/g, 'def tearDown'],
  [/\basync_(wait_for_)/g, '$1'],
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\b(_?)Async([A-Z]\w*)/g, '$1$2'],
  [/\basynccontextmanager\b/g, 'contextmanager'],
  [/\bGenerator\[(.*), None\]/g, 'Generator[$1, None, None]'],
  [/\baclosing\b/g, 'closing'],
  [/(\w+)\.__anext__\(\)/g, 'next($1)'],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\ba(close|iter_bytes|read|sleep)\(/g, '$1('],
  [/\b(_?)async(_client)?\b/g, '$1sync$2'],
  [/code that awaits/g, 'code that blocks'],
]

/** @returns the module that blocks where the given one awaits */
export const syncOfAsync = (text: string): string =>
  WORDS.reduce((whole, [words, replacement]) => whole.replace(words, replacement), text)
