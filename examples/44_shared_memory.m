% A consumer in MATLAB, in lock step with the simulator: reads every frame, says where the sensor goes next.
%
%   tussock stream yard --sensor vlp-16 --share demo --lockstep --timeout 60
%
% Offsets are those of docs/shared_memory.md. MATLAB cannot lock files: run only one consumer, and take the
% simulator for gone when no step comes for a while.

name = 'demo';
path = ['/dev/shm/' name];
while ~isfile(path), pause(0.05); end

head = memmapfile(path, 'Writable', true, 'Repeat', 1, 'Format', { ...
    'uint8',  [1 8], 'magic'; ...             %   0
    'uint32', [1 2], 'version_flags'; ...     %   8
    'uint64', [1 1], 'bytes'; ...             %  16
    'uint32', [1 2], 'channels'; ...          %  24  count, size of an entry
    'uint64', [1 1], 'state'; ...             %  32
    'uint64', [1 3], 'simulator'; ...         %  40  pid, start, heartbeat
    'uint64', [1 3], 'consumer'; ...          %  64  pid, start, heartbeat
    'uint64', [1 1], 'step'; ...              %  88
    'uint64', [1 1], 'answer'});              %  96
assert(strcmp(char(head.Data.magic(1:7)), 'TUSSOCK') && head.Data.version_flags(1) == 1)

points  = channel(path, head, 'points', 'single');
pose    = channel(path, head, 'pose_in', 'double');
command = channel(path, head, 'command', 'int32');

x = 0;
for k = 1:5
    while head.Data.step <= head.Data.answer, pause(0.0005); end
    step = head.Data.step;
    xyzirt = latest(points);                  % 6 x n: x, y, z, intensity, ring, time
    nearest = min(vecnorm(xyzirt(1:3, :)));
    fprintf('step %d: %d points, the nearest %.3f m away\n', step, size(xyzirt, 2), nearest);
    x = x + 0.5;
    publish(pose, [x 0 2 0 0 0 1]);
    if k == 5, publish(command, int32(2)); end
    head.Data.answer = step;
end

function c = channel(path, head, wanted, type)
    % Find a channel in the table (entries of 128 bytes from byte 256 on) and map its two slots.
    for k = 0:double(head.Data.channels(1)) - 1
        entry = memmapfile(path, 'Writable', true, 'Offset', 256 + 128 * k, 'Repeat', 1, 'Format', { ...
            'uint8',  [1 40], 'name'; ...     %  0
            'uint32', [1 4], 'kind'; ...      % 40  direction, type, dimensions, reserved
            'uint64', [1 3], 'shape'; ...     % 56
            'uint64', [1 1], 'offset'; ...    % 80
            'uint64', [1 1], 'slot_bytes'; ... % 88
            'uint64', [1 1], 'published'});   % 96
        if ~strcmp(deblank(char(entry.Data.name(entry.Data.name > 0))), wanted), continue, end
        c.entry = entry;
        shape = double(entry.Data.shape);
        c.row = prod(shape(2:end));
        for s = 0:1
            at = double(entry.Data.offset) + s * double(entry.Data.slot_bytes);
            c.slots{s + 1} = memmapfile(path, 'Writable', true, 'Offset', at, 'Repeat', 1, 'Format', { ...
                'uint64', [1 1], 'sequence'; ... %  0
                'uint64', [1 1], 'number'; ...   %  8
                'double', [1 1], 'time'; ...     % 16
                'uint64', [1 3], 'shape'; ...    % 24
                'uint64', [1 2], 'reserved'; ... % 48
                type, [c.row shape(1)], 'data'}); % 64
        end
        return
    end
    error('no channel %s', wanted)
end

function data = latest(c)
    % The sequence lock: an even number that is the same before and after the copy.
    while true
        slot = c.slots{bitand(c.entry.Data.published, 1) + 1};
        before = slot.Data.sequence;
        if bitand(before, 1), continue, end
        data = slot.Data.data(:, 1:double(slot.Data.shape(1)));
        if slot.Data.sequence == before, return, end
    end
end

function publish(c, values)
    number = c.entry.Data.published + 1;
    slot = c.slots{bitand(number, 1) + 1};
    odd = bitor(slot.Data.sequence + 1, uint64(1));
    slot.Data.sequence = odd;
    slot.Data.number = number;
    slot.Data.shape = uint64([numel(values) 1 1]);
    slot.Data.data(:, 1:numel(values)) = values;
    slot.Data.sequence = odd + 1;
    c.entry.Data.published = number;
end
