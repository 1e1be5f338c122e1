#include "help.h"

#define REQUIRED_OPTIONS                                                                           \
    "  --kernel 'DECLARATION'  what a thread touches, such as\n"                                   \
    "                          'jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]'\n"     \
    "  --domain D              the threads: 8192x8192 (from 0) or 1:8190,1:8190 (both ends\n"      \
    "                          included; 1:99:2 is every second), one range an index\n"            \
    "  --array NAME:TYPE:D ... the arrays, in any order; TYPE is i8 i16 i32 i64 u8 u16 u32 u64\n"  \
    "                          f16 f32 f64 or a size in bytes\n"                                   \
    "  --param NAME=N ...      the value of a parameter of the declaration, as n=100 or a=2.5;\n"  \
    "                          those that no subscript names may be left out\n"

const char help_polytile[] =
    "Usage: polytile COMMAND [OPTION]...\n"
    "\n"
    "Plans kernels on arrays that are larger than a device's memory.\n"
    "\n"
    "  plan     show the sub-kernels of a launch: how many, in which order, moving what\n"
    "  check    prove that launches do not conflict and read what has a value, or show a thread\n"
    "           that does not\n"
    "  devices  list the devices: their memory and their link to the host, measured\n"
    "  policies simulate which unit would run which rows of a launch, and when\n"
    "\n"
    "'polytile COMMAND --help' has the options; --version prints the version.\n"
    "Exit code: 0 success, 2 wrong usage or declaration, 3 nothing fits the limit, 1 other\n"
    "failures.\n";

const char help_plan[] =
    "Usage: polytile plan --kernel 'DECLARATION' --domain D --array NAME:TYPE:D... [OPTION]...\n"
    "\n"
    "Plans the sub-kernels of one launch so that each fits the limit, and prints the plan; or\n"
    "several launches together, so that data that is on the device goes through many of them.\n"
    "\n" REQUIRED_OPTIONS
    "  --kernel, again         a further launch, run behind those before; arrays are matched by\n"
    "                          name; --domain is for all, or given once for each kernel\n"
    "  --steps N               run the kernels N times\n"
    "  --swap A=B ...          after every step these two names change places; they need the same\n"
    "                          type and domain\n"
    "  --scratch NAME ...      an array that nobody wrote before, nor wants afterwards\n"
    "  --launches-per-pass T   the most launches that one pass over the data runs (auto)\n"
    "  --limit SIZE            device memory, such as 64MiB; without it the kernel runs in place\n"
    "  --block 32x8            threads of a block, which is never split; chosen if not given\n"
    "  --buffers 1|2|3|auto    superblocks in flight, all counted in the limit (auto)\n"
    "  --strategy S            min-time (default), min-traffic, min-kernels or paper\n"
    "  --ranks N               plan over N ranks: who does what, what travels between them, and "
    "how\n"
    "                          the one with the most to do runs it, each within the limit\n"
    "  --grid 2x2              of the ranks, one extent a dimension (as MPI_Dims_create() does)\n"
    "  --layout L              of the arrays over it: block (default), block(dim=0), cyclic(64) "
    "or\n"
    "                          weighted(2,1)\n"
    "  --launches-per-exchange T  the most launches between two exchanges (auto)\n"
    "  --json                  print JSON instead of text\n"
    "  --svg FILE              also draw the plan\n"
    "  --help                  print this\n"
    "\n"
    "Example:\n"
    "  polytile plan --kernel 'add[i]: in x[i], y[i]; out z[i]' --domain 67107840 --limit 64MiB "
    "\\\n"
    "      --array x:f32:67107840 y:f32:67107840 z:f32:67107840\n"
    "  polytile plan --kernel 'jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]' \\\n"
    "      --domain 8192x8192 --array A:f32:8192x8192 B:f32:8192x8192 --limit 64MiB \\\n"
    "      --steps 100 --swap A=B --scratch B --ranks 4 --svg jacobi.svg\n"
    "\n"
    "Exit code: 0 success, 2 wrong usage or declaration, 3 nothing fits the limit, 1 other\n"
    "failures.\n";

const char help_check[] =
    "Usage: polytile check --kernel 'DECLARATION' --domain D --array NAME:TYPE:D... [OPTION]...\n"
    "\n"
    "Proves that every section meets its array, that no two threads write one element unless they\n"
    "combine into it, and that none reads what another writes. Of several launches it proves that\n"
    "of each, and that none reads an element of a scratch array before a launch has written it.\n"
    "If that does not hold, it prints the launch, the array, the threads and the element that "
    "show\n"
    "it, on stderr.\n"
    "\n" REQUIRED_OPTIONS
    "  --kernel, again         a further launch, run behind those before; arrays are matched by\n"
    "                          name; --domain is for all, or given once for each kernel\n"
    "  --steps N               run the kernels N times\n"
    "  --swap A=B ...          after every step these two names change places\n"
    "  --scratch NAME ...      an array that nobody wrote before: it has no contents at the start\n"
    "  --json                  print JSON; it has the witness as data\n"
    "  --help                  print this\n"
    "\n"
    "The other options of plan are taken too, and change nothing: the proof holds for any limit.\n"
    "\n"
    "Example:\n"
    "  polytile check --kernel 'smooth[i]: in A[i-1:i+1]; out A[i]' --domain 1:98 "
    "--array A:f32:100\n"
    "  polytile check --kernel 'f[i]: in A[i-1:i+1]; out B[i]' --domain 1:98 --steps 10 \\\n"
    "      --swap A=B --scratch B --array A:f32:100 B:f32:100\n"
    "\n"
    "Exit code: 0 proved, 2 wrong usage, declaration or conflict, 1 other failures.\n";

const char help_devices[] =
    "Usage: polytile devices [--json]\n"
    "\n"
    "Lists the devices of this machine with their memory and the bandwidth of their link to the\n"
    "host, as measured. The first word of each entry opens the device: --device WORD.\n"
    "\n"
    "  --json  print JSON instead of text\n"
    "  --help  print this\n";

const char help_policies[] =
    "Usage: polytile policies --speeds S,S... (--rows N | --costs FILE.npy) [OPTION]...\n"
    "\n"
    "Simulates policies on units of given speeds: when all rows of a launch would be done, and "
    "who\n"
    "would run which. A unit of speed s takes c / s seconds for a row of cost c.\n"
    "\n"
    "  --speeds 8,1,1      of each unit\n"
    "  --nodes 1,2         how many of the units each node has; without it there is one node\n"
    "  --rows N            so many rows, each of cost 1\n"
    "  --costs FILE.npy    a row for each f64 of a NumPy file, with that cost\n"
    "  --policy P ...      equal, equal(node), weighted, weighted(3,1), self(2), self(4,4,1) or\n"
    "                      guided; without it the usual ones. weighted knows the speeds, guided\n"
    "                      finds them out\n"
    "  --json              print JSON instead of text\n"
    "  --svg FILE          also draw who ran what when\n"
    "  --help              print this\n"
    "\n"
    "Example:\n"
    "  polytile policies --speeds 8,1,1 --rows 1000 --policy equal --policy guided --svg who.svg\n"
    "\n"
    "Exit code: 0 success, 2 wrong usage, 1 other failures.\n";
