!> z = x + y on vectors that need not fit the device: vector_add [DEVICE [N]].
program vector_add
    use polytile
    implicit none
    real, allocatable, target :: x(:), y(:), z(:)
    type(polytile_context) :: ctx
    type(polytile_device) :: device
    type(polytile_kernel) :: add
    type(polytile_array) :: arrays(3)
    type(polytile_report) :: report
    character(80) :: text
    integer :: n, k

    text = 'host(memory=1MiB)'
    n = 1000000
    if (command_argument_count() >= 1) call get_command_argument(1, text)
    if (command_argument_count() >= 2) call read_number(2, n)
    x = [(real(mod(k, 1000)), k = 1, n)]
    y = [(real(mod(k, 77)), k = 1, n)]
    allocate (z(n))

    call polytile_context_create(ctx)
    call polytile_device_open(ctx, text, device)
    call polytile_kernel_compile(ctx, 'add[i]: in x[i], y[i]; out z[i]', 'z(i) = x(i) + y(i);', add)
    call polytile_array_wrap(ctx, 'x', x, arrays(1))
    call polytile_array_wrap(ctx, 'y', y, arrays(2))
    call polytile_array_wrap(ctx, 'z', z, arrays(3))
    call polytile_run(device, add, polytile_extents([n]), arrays)
    report = polytile_device_get_report(device)
    call polytile_context_destroy(ctx)

    print '(i0, a, i0, a)', report%n_kernels, ' kernels within ', report%peak_device_bytes, ' bytes'
    if (any(z /= x + y)) error stop 'vector_add: an element differs'
    print '(a)', 'every element is right'

contains

    subroutine read_number(k, number)
        integer, intent(in) :: k
        integer, intent(inout) :: number
        character(20) :: word
        call get_command_argument(k, word)
        read (word, *) number
    end subroutine
end program
