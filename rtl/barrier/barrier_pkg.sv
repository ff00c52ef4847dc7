// SPDX-License-Identifier: Apache-2.0
// What the parts of the barrier engine share: the state of a group, and what an event does to it.
package barrier_pkg;
  import barrier_formats_pkg::*;

  localparam int unsigned ID_W = 10;  // of a member's number: at most 1024 members

  typedef logic [ID_W-1:0] id_t;
  typedef logic [ID_W:0]   size_t;    // 0 to 1024
  typedef logic [15:0]     node_t;

  // Is it one digit of base 2, 4 or 8? By so much the id of a child may be larger.
  function automatic bit is_digit(int unsigned more);
    bit is;
    is = 1'b0;
    for (int unsigned bits = 1; bits <= 3; bits++) begin
      for (int unsigned d = 0; d < ID_W; d += bits) if ((more & ~(((1 << bits) - 1) << d)) == 0) is = 1'b1;
    end
    return is;
  endfunction

  function automatic int unsigned count_digits();
    int unsigned count;
    count = 0;
    for (int unsigned more = 1; more < 1 << ID_W; more++) if (is_digit(more)) count++;
    return count;
  endfunction

  localparam int unsigned CHILD_W = count_digits();  // 24

  typedef logic [CHILD_W-1:0] children_t;  // bit i: one whose id is larger by MORE[i]
  typedef logic [CHILD_W-1:0][ID_W-1:0] digits_t;

  function automatic digits_t all_digits();
    digits_t     all;
    int unsigned place;
    place = 0;
    for (int unsigned more = 1; more < 1 << ID_W; more++) begin
      if (is_digit(more)) begin
        all[place] = id_t'(more);
        place++;
      end
    end
    return all;
  endfunction

  localparam digits_t MORE = all_digits();  // ascending

  // What judge remembers; it goes with every Release.
  typedef struct packed {
    id_t         offset;
    id_t         best_offset;
    logic [15:0] best_length;
    logic [7:0]  tries_left;
    logic        holding;
  } memory_t;

  // What software chose when it opened the group.
  typedef struct packed {
    logic [15:0] inst;
    shape_e      shape;
    size_t       members;
    logic [3:0]  block_log2;  // two levels: blocks of 2^block_log2 members; 0: one level
    node_t       multicast;   // address at which the root's Release reaches all members; 0: none
    size_t       stride;
    logic [15:0] good;
    logic [7:0]  judge_tries;
    logic [15:0] first;
    logic [15:0] largest;
    logic [7:0]  tries;
    logic [31:0] late;
  } settings_t;

  typedef enum logic [1:0] {
    PHASE_IDLE,       // software has not arrived
    PHASE_GATHERING,  // children are missing
    PHASE_WAITING,    // for Release
    PHASE_FAILED      // a member is dead
  } phase_e;

  typedef struct packed {
    settings_t   settings;
    logic [7:0]  digest;    // of shape, blocks and members: packets of members that were told others are dropped
    phase_e      phase;
    id_t         number;
    logic [15:0] epoch;
    memory_t     memory;
    children_t   got;       // whose Gather has come
    children_t   ahead;     // to be asked before the others
    logic [15:0] length;
    logic [15:0] timer;
    logic [15:0] interval;
    logic [8:0]  misses;
    logic [31:0] age;
    logic        has_blamed;
    node_t       blamed;
    logic [15:0] blame_age;  // ticks since that one said that it had not arrived
    logic        has_late;
    node_t       late;
    node_t       dead;
    logic        told;      // software knows of the failure
  } group_t;

  typedef enum logic [1:0] {
    EVENT_ARRIVE,
    EVENT_PACKET,
    EVENT_TICK
  } event_e;

  // What has to be sent and told after an event. Children get Release, the parent Gather, a single node `kind`.
  typedef struct packed {
    logic         refused;     // arriving
    logic         drop;
    drop_e        reason;
    logic         repeated;
    logic         late;
    logic         complete;
    ending_e      ending;
    logic         has_late;
    node_t        late_node;
    children_t    to_children;
    logic         to_parent;
    logic         to_node;
    logic         to_all;      // instead of to_children: one Release to the group's multicast address
    node_t        node;
    packet_kind_e kind;
    logic         failed;
    logic         has_named;
    node_t        named;
    logic [15:0]  length;
    logic         behind;      // of the epoch before
    logic         again;       // the packet is to be looked at again, in the new epoch
  } action_t;

  localparam logic [15:0] PACKET_MAGIC = 16'h4257;

  // Where a member is in the tree of the present epoch, and whom it waits for.
  typedef struct packed {
    id_t       id;
    children_t children;
    children_t missing;  // of them
    children_t first;    // of those, the one to be asked next
    id_t       parent;   // number
    id_t       peer;     // number of whom it waits for
  } place_t;

  // Bits of a digit of a local continuous tree.
  function automatic int unsigned digit_bits(shape_e shape);
    return shape == SHAPE_LCT8 ? 3 : shape == SHAPE_LCT4 ? 2 : 1;
  endfunction

  // The digit of an id, of so many bits, in which its bit `one` is.
  function automatic id_t digit_with(id_t one, int unsigned bits);
    id_t digit, digits;
    digits = '0;
    for (int unsigned d = 0; d < ID_W; d += bits) begin
      digit = id_t'(((1 << bits) - 1) << d);
      if ((one & digit) != '0) digits |= digit;
    end
    return digits;
  endfunction

  // Of one child or none, by its bit.
  function automatic id_t more_of_one(children_t child);
    id_t more;
    more = '0;
    for (int unsigned i = 0; i < CHILD_W; i++) if (child[i]) more |= MORE[i];
    return more;
  endfunction

  // Of several children the one with most members below it.
  function automatic children_t largest_child(shape_e shape, children_t children);
    children_t lowest, highest;
    highest = '0;
    for (int unsigned i = 0; i < CHILD_W; i++) if (children[i]) highest = children_t'(1) << i;
    lowest = children & (~children + 1'b1);
    return shape == SHAPE_BST ? lowest : highest;
  endfunction

  // Of an id or number, what is its place in the block: the bits that offsets move. Without blocks all.
  function automatic id_t in_block(logic [3:0] block_log2);
    return block_log2 == '0 ? '1 : id_t'((32'd1 << block_log2) - 1);
  endfunction

  // How many members move on together, and so how many offsets there are.
  function automatic size_t offsets_of(size_t members, logic [3:0] block_log2);
    return block_log2 == '0 ? members : size_t'(1) << block_log2;
  endfunction

  // A block has a root of its own, and all are whole: of the local continuous trees, with digits that are of one level each.
  function automatic logic has_whole_blocks(settings_t settings);
    logic fits, unused;  // settings that do not matter for it
    unused = ^settings;
    fits   = settings.shape != SHAPE_BST && 32'(settings.block_log2) % digit_bits(settings.shape) == 0;
    return settings.block_log2 == '0 || (fits && (settings.members & {1'b0, in_block(settings.block_log2)}) == '0);
  endfunction

  // round(K): the id of a number, and back.
  function automatic id_t shifted(id_t number, id_t offset, size_t members, logic [3:0] block_log2);
    logic [ID_W:0] sum;
    id_t           moves;
    sum   = {1'b0, number} + {1'b0, offset};
    moves = in_block(block_log2);
    return block_log2 != '0 ? (number & ~moves) | (sum[ID_W-1:0] & moves) : id_t'(sum >= members ? sum - members : sum);
  endfunction

  function automatic id_t unshifted(id_t id, id_t offset, size_t members, logic [3:0] block_log2);
    id_t difference, moves;
    difference = id - offset;
    moves      = in_block(block_log2);
    return block_log2 != '0 ? (id & ~moves) | (difference & moves) : id >= offset ? difference : id_t'({1'b0, id} + members - {1'b0, offset});
  endfunction

  // CRC-8 (x^8 + x^2 + x + 1) over one more word, highest bit first.
  function automatic logic [7:0] crc8(logic [7:0] crc, logic [15:0] word);
    logic [7:0] next;
    next = crc;
    for (int i = 15; i >= 0; i--) next = {next[6:0], 1'b0} ^ (next[7] ^ word[i] ? 8'h07 : 8'h00);
    return next;
  endfunction

  // Of a group's settings; its members' nodes follow, by number.
  function automatic logic [7:0] digest_begun(settings_t settings);
    logic unused;  // settings in which members may differ
    unused = ^settings;
    return crc8(crc8('1, {settings.block_log2, 1'b0, settings.members}), 16'(settings.shape));
  endfunction

  function automatic logic [15:0] saturated_sum(logic [15:0] a, logic [15:0] b);
    logic [16:0] sum;
    sum = {1'b0, a} + {1'b0, b};
    return sum[16] ? 16'hffff : sum[15:0];
  endfunction

  function automatic memory_t memory_of(packet_t packet);
    memory_t memory;
    logic    unused;  // all else of the packet
    unused             = ^packet;
    memory.offset      = packet.offset[ID_W-1:0];
    memory.best_offset = packet.best_offset[ID_W-1:0];
    memory.best_length = packet.best_length;
    memory.tries_left  = packet.tries_left;
    memory.holding     = packet.holding;
    return memory;
  endfunction

  localparam int unsigned CHECKED_WORDS = 7;
  localparam int unsigned CHECKED_BITS  = 32 * CHECKED_WORDS;

  // Bit b of a CRC-32 is the parity of the bits of a packet that row b has, and of its bit of the CRC of zeros: a few levels of gates, where word after word is many.
  typedef logic [31:0][CHECKED_BITS-1:0] check_rows_t;
  function automatic check_rows_t check_rows();
    check_rows_t rows;
    logic [31:0] crc;
    for (int unsigned b = 0; b < 32; b++) begin
      crc = 32'd1 << b;
      for (int i = int'(CHECKED_WORDS) - 1; i >= 0; i--) begin
        crc = crc32_pkg::crc32_word(crc, '0);
        for (int unsigned row = 0; row < 32; row++) rows[row][32*i+int'(b)] = crc[row];
      end
    end
    return rows;
  endfunction
  function automatic logic [31:0] check_of_zeros();
    logic [31:0] crc;
    crc = '1;
    for (int unsigned i = 0; i < CHECKED_WORDS; i++) crc = crc32_pkg::crc32_word(crc, '0);
    return ~crc;
  endfunction
  localparam check_rows_t CHECK_ROWS     = check_rows();
  localparam logic [31:0] CHECK_OF_ZEROS = check_of_zeros();

  // CRC-32 of IEEE 802.3 over all but the check, with hops zero.
  function automatic logic [31:0] check_of(packet_t packet);
    packet_t      covered;
    logic [255:0] bits;
    logic [31:0]  check;
    logic         unused;  // the check itself
    covered      = packet;
    covered.hops = '0;
    bits         = covered;
    unused       = ^bits;
    for (int unsigned b = 0; b < 32; b++) check[b] = ^(bits[CHECKED_BITS-1:0] & CHECK_ROWS[b]) ^ CHECK_OF_ZEROS[b];
    return check;
  endfunction
endpackage
